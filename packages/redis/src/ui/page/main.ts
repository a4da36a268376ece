import type { Overview } from './api.ts';
import { askDrain, notify } from './ask.ts';
import { h, setAttribute, setText } from './dom.ts';
import { Machines } from './machines.ts';
import { get, post } from './net.ts';
import { alertsOf, footOf, Tiles } from './overview.ts';
import { hrefOf, routeOf } from './route.ts';
import { SlotsPanel } from './slots.ts';
import { SpiderView } from './spider.ts';
import { Spiders } from './spiders.ts';
import { ago, count } from './text.ts';
import { theme } from './theme.ts';

/** Milliseconds between two looks. */
const everyMs = 2000;
const awayMs = 4000;

const element = <E extends HTMLElement>(id: string): E => document.querySelector<E>(`#${id}`)!;
const main = element('main');
const alerts = element('alerts');
const live = element('live');
const drain = element<HTMLButtonElement>('drain');

const tiles = new Tiles();
const machines = new Machines();
const slots = new SlotsPanel(now);
const spiders = new Spiders(now, refresh);
const fleetPage = h(
  'div',
  { class: 'fleet-page' },
  tiles.element,
  spiders.element,
  h('div', { class: 'rail' }, machines.element, slots.element),
);

let overview: Overview | undefined;
/** How far the clock of the server is before ours. */
let clockMs = 0;
let spider: { readonly name: string; readonly view: SpiderView } | undefined;
let shownAlerts = '';
let timer: number | undefined;
let failedSince: number | undefined;
let looks = 0;

function now(): number {
  return Date.now() + clockMs;
}

/** Looks again at once. */
function refresh(): void {
  clearTimeout(timer);
  void look();
}

async function look(): Promise<void> {
  const mine = ++looks;
  let error: unknown;
  try {
    await Promise.all([lookAtAll(), lookAtPage()]);
    failedSince = undefined;
  } catch (thrown) {
    error = thrown;
    failedSince ??= Date.now();
  }
  // A later look has begun.
  if (mine !== looks) return;
  showLive(error);
  if (!document.hidden)
    timer = setTimeout(() => void look(), error === undefined ? everyMs : awayMs);
}

async function lookAtAll(): Promise<void> {
  overview = await get<Overview>('api/overview');
  clockMs = overview.now - Date.now();
  if (location.hash === '') begin(overview);
  showOverview();
}

/** Without an address, the spiders that most likely matter. */
function begin({ counts }: Overview): void {
  const state = counts.running > 0 ? 'running' : counts.failed > 0 ? 'failed' : undefined;
  history.replaceState(null, '', hrefOf({ state }));
  const route = routeOf(location.hash);
  if (route.name === 'fleet') spiders.show(route.query);
  void spiders.refresh();
}

async function lookAtPage(): Promise<void> {
  if (spider) await spider.view.refresh();
  else await Promise.all([spiders.refresh(), slots.refresh()]);
}

function showOverview(): void {
  if (!overview) return;
  const page = spider ? spider.view.element : fleetPage;
  if (main.firstElementChild !== page) main.replaceChildren(page);
  const route = routeOf(location.hash);
  tiles.update(overview, route.name === 'fleet' ? route.query.state : undefined);
  machines.update(overview.machines, now());
  drain.hidden = false;
  setText(drain, overview.isDraining ? 'Resume' : 'Drain');
  element('logout').hidden = !overview.hasToken;
  const { failed, running } = overview.counts;
  document.title = `${failed > 0 ? `${count(failed)} failed · ` : ''}${count(running)} running · Lycosa fleet`;
  showAlerts(alertsOf(overview, now(), refresh));
  const foot = footOf(overview);
  if (foot.map((one) => one.textContent).join('') !== element('foot').textContent) {
    element('foot').replaceChildren(...foot);
  }
}

/** Redrawn only where they say something new: screen readers read them, and buttons in them may have the focus. */
function showAlerts(found: readonly HTMLElement[]): void {
  const text = found.map((one) => one.textContent).join('\n');
  if (text === shownAlerts) return;
  shownAlerts = text;
  const at = actionsIn(alerts).indexOf(document.activeElement as HTMLElement);
  alerts.replaceChildren(...found);
  if (at !== -1) actionsIn(alerts)[at]?.focus();
}

function actionsIn(parent: HTMLElement): HTMLElement[] {
  return [...parent.querySelectorAll<HTMLElement>('a, button')];
}

function showLive(error: unknown): void {
  const isStale = error === undefined && overview?.redis.error !== undefined;
  setAttribute(live, 'data-state', error !== undefined ? 'away' : isStale ? 'stale' : 'live');
  const since =
    failedSince === undefined ? '' : ` since ${ago(Date.now() - failedSince)}`.replace(' ago', '');
  setText(
    live.lastElementChild!,
    error !== undefined ? `No answer${since}` : isStale ? 'Redis is away' : 'Live',
  );
  document.body.classList.toggle('is-stale', error !== undefined || isStale);
  if (error === undefined) return;
  const text = error instanceof Error ? error.message : 'Something went wrong.';
  if (!main.firstElementChild?.classList.contains('loading')) {
    showAlerts([
      h('div', { class: 'alert is-bad' }, h('p', {}, `${text} Below is what was known before.`)),
    ]);
  } else main.replaceChildren(h('p', { class: 'loading' }, text, ' Trying again.'));
}

/** What the address says. */
function go(): void {
  const route = routeOf(location.hash);
  if (route.name === 'spider') {
    if (spider?.name !== route.spider) {
      spider = {
        name: route.spider,
        view: new SpiderView(route.spider, route.attempt, now, refresh),
      };
      scrollTo(0, 0);
    } else spider.view.show(route.attempt);
  } else {
    spider = undefined;
    spiders.show(route.query);
  }
  showOverview();
  refresh();
}

async function start(): Promise<void> {
  theme(element('theme'));
  drain.addEventListener('click', () => {
    if (!overview?.isDraining) return askDrain(refresh);
    post('api/resume')
      .then(() => notify('The fleet goes on.'))
      .catch((error: Error) => notify(error.message, 'failed'))
      .finally(refresh);
  });
  element('skip').addEventListener('click', (event) => {
    // The address holds the filters.
    event.preventDefault();
    main.focus();
  });
  addEventListener('hashchange', go);
  document.addEventListener('visibilitychange', refresh);
  document.addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const isTyping =
      target instanceof HTMLElement && target.matches('input, select, textarea, dialog *');
    if (key !== '/' || isTyping || ctrlKey || metaKey || altKey || spider) return;
    // The slash itself is not searched for.
    event.preventDefault();
    spiders.focusSearch();
  });
  go();
}

await start();
