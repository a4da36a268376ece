import type { Row, State } from './api.ts';
import { askRequeue, askStop } from './ask.ts';
import { button, h, setAttribute, setText, type Shows } from './dom.ts';
import { spiderHref } from './route.ts';
import { ago, count, duration, line, machineName, rate, shown } from './text.ts';

export interface KnownRow {
  readonly row: Row;
  readonly now: number;
  readonly machines: readonly string[];
  readonly isChosen: boolean;
}

interface RowActions {
  choose(name: string, state: State, isChosen: boolean): void;
  refresh(): void;
}

/** One spider in the table. */
export class SpiderRow implements Shows<KnownRow> {
  readonly element: HTMLTableRowElement;
  readonly #choose = h('input', { type: 'checkbox' });
  readonly #link = h('a', { class: 'name' });
  readonly #args = h('span', { class: 'args', dir: 'auto' });
  readonly #why = h('span', { class: 'why', dir: 'auto' });
  readonly #state = h('span', { class: 'state' });
  readonly #since = numberCell('since');
  readonly #took = numberCell('took');
  readonly #items = numberCell('items');
  readonly #rate = numberCell('/min');
  readonly #pages = numberCell('pages');
  readonly #machine = h('td', { role: 'cell', class: 'machine' });
  readonly #act: HTMLButtonElement;
  #row: Row | undefined;

  constructor(actions: RowActions) {
    this.#choose.addEventListener('change', () => {
      actions.choose(this.#row!.name, this.#row!.state, this.#choose.checked);
    });
    this.#act = button('', () => {
      const { name, state } = this.#row!;
      (canStop(state) ? askStop : askRequeue)(new Map([[name, state]]), actions.refresh);
    });
    this.element = h(
      'tr',
      { role: 'row' },
      h('td', { role: 'cell', class: 'choose' }, this.#choose),
      h(
        'td',
        { role: 'cell', class: 'what' },
        h('bdi', {}, this.#link),
        ' ',
        this.#args,
        ' ',
        this.#why,
      ),
      h('td', { role: 'cell', class: 'state-cell' }, this.#state),
      this.#since,
      this.#took,
      this.#items,
      this.#rate,
      this.#pages,
      this.#machine,
      h('td', { role: 'cell', class: 'act' }, this.#act),
    );
  }

  update({ row, now, machines, isChosen }: KnownRow): void {
    this.#row = row;
    const { state } = row;
    const name = line(row.name);
    this.#choose.checked = isChosen;
    setAttribute(this.#choose, 'aria-label', `Select ${name}`);
    setAttribute(this.element, 'class', isChosen ? 'is-chosen' : undefined);
    setText(this.#link, line(row.spider));
    setAttribute(this.#link, 'title', name);
    this.#link.href = spiderHref(row.name);
    const args = Object.entries(row.args).map(([key, value]) => line(`${key}=${String(value)}`));
    setText(this.#args, args.join(' '));
    setText(this.#why, whyOf(row));
    setAttribute(this.#why, 'title', shown(row.error ?? ''));
    setText(this.#state, row.isStopping ? 'stopping' : state);
    setAttribute(this.#state, 'class', `state is-${state}`);
    setText(this.#since, ago(now - row.changedAt));
    setAttribute(this.#since, 'title', new Date(row.changedAt).toLocaleString());
    const runsFor = row.startedAt === undefined ? undefined : (now - row.startedAt) / 1000;
    const usual = row.expectedSeconds;
    const took = state === 'running' ? runsFor : row.seconds;
    const isExpected = state === 'pending' && usual !== undefined;
    setText(this.#took, isExpected ? `~ ${duration(usual)}` : duration(took));
    setAttribute(
      this.#took,
      'title',
      usual === undefined ? undefined : `usually ${duration(usual)}`,
    );
    const isLong =
      state === 'running' && usual !== undefined && (runsFor ?? 0) > Math.max(60, 3 * usual);
    setAttribute(this.#took, 'class', isLong ? 'number is-long' : 'number');
    setText(this.#items, count(row.items));
    setText(this.#rate, rate(row.itemsPerMinute));
    setText(this.#pages, count(row.responses));
    setText(this.#machine, row.machine ? machineName(row.machine, machines) : '–');
    setAttribute(this.#machine, 'title', row.machine && line(row.machine));
    const act = canStop(state) ? 'Stop' : 'Requeue';
    setText(this.#act, row.isStopping ? 'Stopping' : act);
    setAttribute(this.#act, 'aria-label', `${act} ${name}`);
    this.#act.disabled = row.isStopping === true;
  }
}

function canStop(state: State): boolean {
  return state === 'running' || state === 'pending';
}

function whyOf(row: Row): string {
  if (row.state === 'failed') return line(row.error ?? row.reason ?? 'failed without a reason');
  if (row.state === 'pending' && row.error) return line(`failed before: ${row.error}`);
  if (row.state === 'finished' && row.reason && row.reason !== 'finished') return line(row.reason);
  return row.errors ? `${count(row.errors)} errors so far` : '';
}

function numberCell(label: string): HTMLTableCellElement {
  return h('td', { role: 'cell', class: 'number', 'data-label': label });
}
