import type { Page, SortKey, State } from './api.ts';
import { askRequeue, askStop } from './ask.ts';
import { button, h, List, setAttribute, setText } from './dom.ts';
import { get, withQuery } from './net.ts';
import { hrefOf, type TableQuery } from './route.ts';
import { type KnownRow, SpiderRow } from './spider-row.ts';
import { count, line, machineName, plural } from './text.ts';

const pageRows = 100;

interface Column {
  readonly key: SortKey;
  readonly label: string;
  readonly isNumber?: boolean;
}

const columns: readonly Column[] = [
  { key: 'name', label: 'Spider' },
  { key: 'state', label: 'State' },
  { key: 'changedAt', label: 'Since', isNumber: true },
  { key: 'seconds', label: 'Took', isNumber: true },
  { key: 'items', label: 'Items', isNumber: true },
  { key: 'rate', label: 'Items/min', isNumber: true },
  { key: 'responses', label: 'Pages', isNumber: true },
  { key: 'machine', label: 'Machine' },
];

/** The table of spiders, a hundred at a time; the server searches and sorts. */
export class Spiders {
  readonly element: HTMLElement;
  readonly #now: () => number;
  readonly #refreshAll: () => void;
  readonly #rows: List<KnownRow>;
  readonly #chosen = new Map<string, State>();
  readonly #search = h('input', {
    type: 'search',
    placeholder: 'Name, machine, argument, error',
    'aria-label': 'Search spiders',
    'aria-keyshortcuts': '/',
  });
  readonly #heads = new Map<SortKey, HTMLTableCellElement>();
  readonly #all = h('input', { type: 'checkbox', 'aria-label': 'Select all on this page' });
  readonly #table: HTMLTableElement;
  readonly #title = h('h2', { id: 'spiders-title' }, 'Spiders');
  readonly #filters = h('div', { class: 'filters' });
  readonly #selection = h('div', { class: 'selection', hidden: true });
  readonly #empty = h('div', { class: 'empty', hidden: true });
  readonly #pager = h('nav', { class: 'pager', 'aria-label': 'Pages' });
  readonly #csv = h('a', { class: 'button', download: 'spiders.csv' }, 'Download CSV');
  readonly #sort = h('select', { 'aria-label': 'Sort by' });
  #query: TableQuery = {};
  #page: Page | undefined;
  #asked = 0;

  constructor(now: () => number, refreshAll: () => void) {
    this.#now = now;
    this.#refreshAll = refreshAll;
    const body = h('tbody', { role: 'rowgroup' });
    this.#rows = new List(
      body,
      () => new SpiderRow({ choose: (...args) => this.#choose(...args), refresh: refreshAll }),
    );
    this.#table = h(
      'table',
      { class: 'spiders', role: 'table', 'aria-labelledby': 'spiders-title' },
      this.#head(),
      body,
    );
    this.#all.addEventListener('change', () => this.#chooseAll(this.#all.checked));
    let timer: number | undefined;
    this.#search.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#go({ search: this.#search.value || undefined }), 200);
    });
    this.#search.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#search.blur();
    });
    this.#sort.append(
      h('option', { value: '' }, 'Sort: usual order'),
      ...columns.flatMap(({ key, label, isNumber }) =>
        isNumber
          ? [
              h('option', { value: `-${key}` }, `${label}, most first`),
              h('option', { value: key }, `${label}, least first`),
            ]
          : [h('option', { value: key }, label)],
      ),
    );
    this.#sort.addEventListener('change', () => this.#go({ sort: this.#sort.value || undefined }));
    this.element = h(
      'section',
      { class: 'panel spiders-panel', 'aria-labelledby': 'spiders-title' },
      h(
        'div',
        { class: 'panel-head' },
        this.#title,
        h('div', { class: 'tools' }, this.#search, this.#sort, this.#csv),
      ),
      this.#filters,
      this.#selection,
      this.#table,
      this.#empty,
      this.#pager,
    );
  }

  show(query: TableQuery): void {
    const isOther = JSON.stringify(query) !== JSON.stringify(this.#query);
    this.#query = query;
    if (document.activeElement !== this.#search) this.#search.value = query.search ?? '';
    this.#sort.value = query.sort ?? '';
    for (const [key, head] of this.#heads) {
      const order =
        query.sort === key ? 'ascending' : query.sort === `-${key}` ? 'descending' : undefined;
      setAttribute(head, 'aria-sort', order);
    }
    const { page: _, ...filter } = query;
    this.#csv.href = withQuery('spiders.csv', { ...filter });
    setText(
      this.#title,
      query.state
        ? `${query.state[0]!.toUpperCase()}${query.state.slice(1)} spiders`
        : 'All spiders',
    );
    setAttribute(this.#table, 'data-state', query.state);
    this.#showFilters();
    setAttribute(this.#table, 'aria-busy', isOther);
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  async refresh(): Promise<void> {
    const asked = ++this.#asked;
    const { page = 1, ...filter } = this.#query;
    const found = await get<Page>('api/spiders', {
      ...filter,
      offset: (page - 1) * pageRows,
      limit: pageRows,
    });
    if (asked !== this.#asked) return;
    this.#page = found;
    this.#draw();
  }

  #draw(): void {
    const { rows, total } = this.#page!;
    const now = this.#now();
    for (const { name, state } of rows) if (this.#chosen.has(name)) this.#chosen.set(name, state);
    const machines = [...new Set(rows.flatMap(({ machine }) => machine ?? []))];
    this.#rows.update(
      rows.map((row) => [row.name, { row, now, machines, isChosen: this.#chosen.has(row.name) }]),
    );
    setAttribute(this.#table, 'aria-busy', undefined);
    this.#table.hidden = rows.length === 0;
    this.#showEmpty(total === 0);
    this.#showPager(total);
    this.#showSelection();
  }

  #head(): HTMLElement {
    const heads = columns.map(({ key, label, isNumber }) => {
      const sort = button(label, () => {
        // Of numbers the most are wanted first; a second click turns it round, a third one ends it.
        const order = isNumber ? [`-${key}`, key] : [key, `-${key}`];
        this.#go({
          sort:
            order[order.indexOf(this.#query.sort ?? '') + 1] ??
            (this.#query.sort === order[1] ? undefined : order[0]),
        });
      });
      const head = h(
        'th',
        { role: 'columnheader', scope: 'col', class: isNumber && 'number' },
        sort,
      );
      this.#heads.set(key, head);
      return head;
    });
    return h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        h('th', { role: 'columnheader', class: 'choose' }, this.#all),
        ...heads,
        h('th', { role: 'columnheader' }, h('span', { class: 'unseen' }, 'Order')),
      ),
    );
  }

  /** Another filter begins on its first page. */
  #go(change: TableQuery): void {
    location.hash = hrefOf({ ...this.#query, page: 1, ...change });
  }

  #showFilters(): void {
    const { state, machine, why, search } = this.#query;
    const chip = (text: string, rest: TableQuery): HTMLElement =>
      h(
        'a',
        {
          class: 'chip',
          href: hrefOf({ ...this.#query, page: 1, ...rest }),
          title: 'Remove this filter',
        },
        h('bdi', {}, text),
        h('span', { 'aria-hidden': 'true' }, '×'),
      );
    this.#filters.replaceChildren(
      ...[
        state !== undefined && chip(state, { state: undefined }),
        machine !== undefined && chip(machineName(machine), { machine: undefined }),
        why !== undefined && chip(line(why), { why: undefined }),
        search !== undefined && chip(`“${line(search)}”`, { search: undefined }),
      ].filter((one) => one !== false),
    );
  }

  #showEmpty(isEmpty: boolean): void {
    this.#empty.hidden = !isEmpty;
    if (!isEmpty) return;
    const { page: _, sort: __, ...filter } = this.#query;
    const isFiltered = Object.values(filter).some((one) => one !== undefined);
    this.#empty.replaceChildren(
      ...(isFiltered
        ? [
            h('p', {}, 'No spider is like this now. '),
            h('a', { class: 'button', href: '#/' }, 'Show all'),
          ]
        : [
            h('p', {}, 'No spider was ordered yet. In the project, this orders all of them: '),
            h('code', {}, 'npx lycosa fleet add --all'),
          ]),
    );
  }

  #showPager(total: number): void {
    const { page = 1 } = this.#query;
    const pages = Math.max(1, Math.ceil(total / pageRows));
    this.#pager.hidden = total <= pageRows && page === 1;
    const first = (page - 1) * pageRows + 1;
    const text = `${count(first)} to ${count(Math.min(total, first + pageRows - 1))} of ${count(total)}`;
    const link = (label: string, to: number): HTMLElement =>
      to < 1 || to > pages || to === page
        ? h('span', { class: 'button is-off', 'aria-disabled': 'true' }, label)
        : h('a', { class: 'button', href: hrefOf({ ...this.#query, page: to }) }, label);
    const key = `${page} ${total} ${location.hash}`;
    if (this.#pager.dataset['key'] === key) return;
    this.#pager.dataset['key'] = key;
    const had = this.#pager.contains(document.activeElement)
      ? document.activeElement!.textContent
      : undefined;
    this.#pager.replaceChildren(
      link('First', 1),
      link('Previous', page - 1),
      h('span', { class: 'number' }, text),
      link('Next', page + 1),
      link('Last', pages),
    );
    for (const one of this.#pager.children)
      if (one instanceof HTMLAnchorElement && one.textContent === had) one.focus();
  }

  #choose(name: string, state: State, isChosen: boolean): void {
    if (isChosen) this.#chosen.set(name, state);
    else this.#chosen.delete(name);
    this.#showSelection();
  }

  #chooseAll(areChosen: boolean): void {
    for (const { name, state } of this.#page?.rows ?? []) {
      if (areChosen) this.#chosen.set(name, state);
      else this.#chosen.delete(name);
    }
    this.#draw();
  }

  async #chooseMatching(): Promise<void> {
    const { page: _, ...filter } = this.#query;
    for (const { name, state } of await get<{ name: string; state: State }[]>(
      'api/names',
      filter,
    )) {
      this.#chosen.set(name, state);
    }
    this.#draw();
  }

  #clear(): void {
    this.#chosen.clear();
    this.#draw();
  }

  #showSelection(): void {
    const { rows, total } = this.#page!;
    const here = rows.filter(({ name }) => this.#chosen.has(name)).length;
    this.#all.checked = here > 0 && here === rows.length;
    this.#all.indeterminate = here > 0 && here < rows.length;
    this.#selection.hidden = this.#chosen.size === 0;
    const states = [...this.#chosen.values()];
    const canStop = states.some((state) => state === 'running' || state === 'pending');
    const canRequeue = states.some((state) => state === 'failed' || state === 'finished');
    const mayGrow = this.#all.checked && total > this.#chosen.size;
    const key = `${this.#chosen.size} ${canStop} ${canRequeue} ${mayGrow && total}`;
    if (this.#selection.dataset['key'] === key) return;
    this.#selection.dataset['key'] = key;
    const done = (): void => {
      this.#clear();
      this.#refreshAll();
    };
    const parts = [
      h('span', {}, `${plural(this.#chosen.size, 'spider')} selected`),
      mayGrow &&
        button(`Select all ${count(total)}`, () => void this.#chooseMatching(), { class: 'quiet' }),
      canStop && button('Stop', () => askStop(this.#chosen, done), { class: 'danger' }),
      canRequeue && button('Requeue', () => askRequeue(this.#chosen, done), { class: 'primary' }),
      button('Clear', () => this.#clear(), { class: 'quiet' }),
    ];
    this.#selection.replaceChildren(...parts.filter((part) => part !== false));
  }
}
