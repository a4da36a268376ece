import type { Run, SpiderPage } from './api.ts';
import { askRequeue, askStop } from './ask.ts';
import { button, h, List, setAttribute, setText, type Shows } from './dom.ts';
import { LogView } from './log.ts';
import { AnswerError, get } from './net.ts';
import { spiderHref } from './route.ts';
import { runBars } from './spark.ts';
import { ago, count, duration, line, machineName, plural, rate, shown } from './text.ts';

/** One spider: how it stands, its runs and their logs. */
export class SpiderView {
  readonly element: HTMLElement;
  readonly #name: string;
  readonly #now: () => number;
  readonly #state = h('span', { class: 'state' });
  readonly #facts = h('dl', { class: 'fact-list' });
  readonly #error = h('pre', { class: 'error-text' });
  readonly #act: HTMLButtonElement;
  readonly #chart = h('div', { class: 'run-chart' });
  readonly #runs: List<KnownRun>;
  readonly #history: HTMLElement;
  readonly #body: HTMLElement;
  readonly #missing = h('p', { class: 'empty', hidden: true }, 'Nothing of this name was ordered.');
  readonly #log: LogView;
  #attempt: number | undefined;
  #page: SpiderPage | undefined;
  #charted = '';

  constructor(name: string, attempt: number | undefined, now: () => number, refresh: () => void) {
    this.#name = name;
    this.#now = now;
    this.#attempt = attempt;
    this.#log = new LogView(name, attempt);
    this.#act = button('Stop', () => {
      if (!this.#page) return;
      const { state } = this.#page.row;
      const ask = state === 'running' || state === 'pending' ? askStop : askRequeue;
      ask(new Map([[name, state]]), refresh);
    });
    const body = h('tbody');
    this.#runs = new List(body, () => new RunRow(name));
    this.#history = h(
      'section',
      { class: 'panel', 'aria-labelledby': 'runs-title' },
      h('h2', { id: 'runs-title' }, 'Runs'),
      runTable(body),
    );
    this.#body = h(
      'div',
      { class: 'spider-body' },
      this.#error,
      this.#facts,
      this.#chart,
      this.#log.element,
      this.#history,
    );
    this.element = h(
      'div',
      { class: 'spider-page' },
      h('p', { class: 'back' }, h('a', { href: '#/' }, 'All spiders')),
      h(
        'div',
        { class: 'spider-head' },
        h('h1', {}, h('bdi', {}, line(name))),
        this.#state,
        this.#act,
      ),
      this.#missing,
      this.#body,
    );
  }

  /** Another run of the same spider. */
  show(attempt: number | undefined): void {
    this.#attempt = attempt;
    if (attempt !== undefined) this.#log.show(attempt);
  }

  async refresh(): Promise<void> {
    const page = await get<SpiderPage>('api/spider', { name: this.#name }).catch((error: Error) => {
      if (error instanceof AnswerError && error.status === 404) return undefined;
      throw error;
    });
    this.#page = page;
    this.#missing.hidden = page !== undefined;
    for (const part of [this.#state, this.#act, this.#body]) part.hidden = page === undefined;
    if (!page) return;
    this.#update(page);
    await this.#log.refresh();
  }

  #update({ row, runs }: SpiderPage): void {
    const now = this.#now();
    const canStop = row.state === 'running' || row.state === 'pending';
    setAttribute(this.#state, 'class', `state is-${row.state}`);
    setText(this.#state, row.isStopping ? 'stopping' : row.state);
    setText(this.#act, canStop ? 'Stop' : 'Requeue');
    this.#act.disabled = row.isStopping === true;
    setText(this.#error, shown(row.error ?? ''));
    this.#error.hidden = row.error === undefined;
    const args = Object.entries(row.args).map(([name, value]) => line(`${name}=${String(value)}`));
    const runningFor = row.startedAt === undefined ? undefined : (now - row.startedAt) / 1000;
    this.#setFacts([
      ['Since', ago(now - row.changedAt)],
      row.state === 'running'
        ? ['Running for', duration(runningFor)]
        : ['Last run took', duration(row.seconds)],
      ['Usually takes', duration(row.expectedSeconds)],
      ['Items', `${count(row.items)}${perMinute(row.itemsPerMinute)}`],
      ['Pages', `${count(row.responses)}${perMinute(row.responsesPerMinute)}`],
      ...(row.errors ? [['Errors', count(row.errors)] as const] : []),
      ['Machine', row.machine ? machineName(row.machine) : '–'],
      ...(row.state !== 'running' && row.reason ? [['Reason', line(row.reason)] as const] : []),
      ...(args.length > 0 ? [['Arguments', args.join(', ')] as const] : []),
      ...(row.priority === 0 ? [] : [['Priority', count(row.priority)] as const]),
      ...(row.group ? [['Group', line(row.group)] as const] : []),
    ]);
    this.#history.hidden = runs.length === 0;
    this.#runs.update(
      runs.map((run) => [
        String(run.attempt),
        { run, now, isChosen: run.attempt === (this.#attempt ?? runs[0]!.attempt) },
      ]),
    );
    this.#drawRuns(runs, now);
  }

  #drawRuns(runs: readonly Run[], now: number): void {
    const text = JSON.stringify(
      runs.map(({ attempt, state, seconds }) => [attempt, state, seconds]),
    );
    // A run under way grows; one that had the focus would lose it.
    if (text === this.#charted && runs.every(({ endedAt }) => endedAt !== undefined)) return;
    if (this.#chart.contains(document.activeElement)) return;
    this.#charted = text;
    this.#chart.hidden = runs.length < 2;
    this.#chart.replaceChildren(
      runBars(runs, now, ({ attempt }) => {
        location.hash = spiderHref(this.#name, attempt);
      }),
      h(
        'p',
        { class: 'dim' },
        `How long the last ${plural(runs.length, 'run')} took, the latest at the right`,
      ),
    );
  }

  #setFacts(facts: readonly (readonly [string, string])[]): void {
    const texts = facts.flat();
    const shownNow = [...this.#facts.querySelectorAll('dt, dd')];
    if (shownNow.length !== texts.length) {
      this.#facts.replaceChildren(
        ...facts.map(([name, value]) =>
          h('div', {}, h('dt', {}, name), h('dd', { dir: 'auto' }, value)),
        ),
      );
    } else for (const [i, element] of shownNow.entries()) setText(element, texts[i]!);
  }
}

function perMinute(number: number | undefined): string {
  return number === undefined ? '' : `, ${rate(number)} a minute`;
}

function runTable(body: HTMLTableSectionElement): HTMLElement {
  const heads = ['Run', 'Started', 'Took', 'Items', 'Pages', 'Machine', 'Reason'];
  return h(
    'table',
    { class: 'runs', role: 'table' },
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        ...heads.map((head) => h('th', { role: 'columnheader', scope: 'col' }, head)),
      ),
    ),
    body,
  );
}

interface KnownRun {
  readonly run: Run;
  readonly now: number;
  readonly isChosen: boolean;
}

class RunRow implements Shows<KnownRun> {
  readonly element: HTMLTableRowElement;
  readonly #name: string;
  readonly #link = h('a');
  readonly #started = h('time');
  readonly #cells = Array.from({ length: 5 }, () => h('td', { role: 'cell' }));

  constructor(name: string) {
    this.#name = name;
    const [took, items, pages, machine, why] = this.#cells;
    for (const [cell, label] of [
      [took, 'took'],
      [items, 'items'],
      [pages, 'pages'],
    ] as const) {
      setAttribute(cell!, 'class', 'number');
      setAttribute(cell!, 'data-label', label);
    }
    setAttribute(why!, 'dir', 'auto');
    setAttribute(why!, 'class', 'why');
    this.element = h(
      'tr',
      { role: 'row' },
      h('td', { role: 'cell' }, this.#link),
      h('td', { role: 'cell' }, this.#started),
      took,
      items,
      pages,
      machine,
      why,
    );
  }

  update({ run, now, isChosen }: KnownRun): void {
    const [took, items, pages, machine, why] = this.#cells;
    const state = run.state ?? 'running';
    setText(this.#link, `${run.attempt}`);
    this.#link.href = spiderHref(this.#name, run.attempt);
    setAttribute(this.#link, 'aria-current', isChosen ? 'true' : undefined);
    setAttribute(this.#link, 'aria-label', `Run ${run.attempt}, ${state}. Show its log.`);
    setAttribute(this.element, 'class', `is-${state}${isChosen ? ' is-chosen' : ''}`);
    const date = new Date(run.startedAt);
    setText(this.#started, date.toLocaleString());
    setAttribute(this.#started, 'title', ago(now - run.startedAt));
    setText(took!, duration(run.seconds ?? ((run.endedAt ?? now) - run.startedAt) / 1000));
    setText(items!, count(run.items));
    setText(pages!, count(run.responses));
    setText(machine!, machineName(run.machine));
    setText(why!, run.error ? line(run.error) : line(run.reason ?? state));
    setAttribute(why!, 'title', shown(run.error ?? ''));
  }
}
