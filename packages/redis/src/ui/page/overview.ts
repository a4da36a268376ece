import type { Machine, Overview, State } from './api.ts';
import { askRequeue, notify } from './ask.ts';
import { button, h, setAttribute, setText } from './dom.ts';
import { get } from './net.ts';
import { hrefOf } from './route.ts';
import { endedBars } from './spark.ts';
import { clock, count, duration, line, machineName, plural, rate } from './text.ts';

const states: readonly State[] = ['running', 'pending', 'failed', 'finished'];

/** A machine that was not heard of for so long deserves a look. */
const silentMs = 20_000;
const shownCauses = 4;

interface Alert {
  readonly kind: 'bad' | 'warn';
  readonly text: string;
  readonly code?: string;
  readonly links?: readonly HTMLElement[];
}

/** What needs a person now, the worst first. Nothing in it changes with each second: it is read aloud when it changes. */
export function alertsOf(overview: Overview, now: number, refresh: () => void): HTMLElement[] {
  const { counts, machines } = overview;
  const alerts: Alert[] = [];
  if (overview.redis.error !== undefined) {
    const known = `Spiders that run go on. Below is what was known at ${clock(overview.takenAt)}.`;
    alerts.push({ kind: 'bad', text: `${line(overview.redis.error)}. ${known}` });
  }
  const waiting = counts.pending + counts.running;
  if (machines.length === 0 && waiting > 0) {
    const text = `${plural(waiting, 'spider waits', 'spiders wait')} and no machine runs any. Start one with`;
    alerts.push({ kind: 'bad', text, code: 'npx lycosa fleet run' });
  }
  alerts.push(...silentAlert(machines, now), ...closedAlerts(machines));
  if (overview.isDraining) {
    alerts.push({ kind: 'warn', text: 'Draining: no further spider begins on any machine.' });
  }
  if (counts.failed > overview.stopped) alerts.push(failedAlert(overview, refresh));
  return alerts.map(alertElement);
}

function silentAlert(machines: readonly Machine[], now: number): Alert[] {
  const silent = machines.filter(({ at }) => now - at > silentMs);
  if (silent.length === 0) return [];
  const names = silent.map(({ id, at }) => `${machineName(id)} (since ${clock(at)})`);
  const spiders = silent.reduce((sum, { running }) => sum + running, 0);
  const text = `${plural(silent.length, 'machine says', 'machines say')} nothing any more: ${names.join(', ')}.`;
  const fate = `${plural(spiders, 'spider')} on ${silent.length === 1 ? 'it go' : 'them go'} elsewhere when the leases end.`;
  return [{ kind: 'bad', text: spiders > 0 ? `${text} ${fate}` : text }];
}

function closedAlerts(machines: readonly Machine[]): Alert[] {
  const whys = { memory: 'memory is short', lag: 'the event loop is late' };
  return Object.entries(whys).flatMap(([why, text]) => {
    const names = machines
      .filter(({ closedBy }) => closedBy === why)
      .map(({ id }) => machineName(id));
    if (names.length === 0) return [];
    const who = names.length === 1 ? `${names[0]} begins` : `${names.join(', ')} begin`;
    return [{ kind: 'warn' as const, text: `${who} no further spider: ${text}.` }];
  });
}

function failedAlert({ counts, stopped, failures }: Overview, refresh: () => void): Alert {
  const links: HTMLElement[] = failures
    .slice(0, shownCauses)
    .map(({ why, example, count: number }) => {
      const text = line(number === 1 ? example : why) || 'without a reason';
      const requeue = button('Requeue', () => requeueAlike(why, refresh), {
        class: 'quiet',
        'aria-label': `Requeue the ${plural(number, 'spider')} that failed with: ${text}`,
      });
      const attributes = { href: hrefOf({ state: 'failed', why }), title: text };
      const link = h('a', attributes, h('b', {}, count(number)), ' ', h('bdi', {}, text));
      return h('span', { class: 'cause' }, link, requeue);
    });
  if (failures.length > shownCauses) {
    links.push(h('a', { href: hrefOf({ state: 'failed', sort: 'why' }) }, 'and other causes'));
  }
  const number = plural(counts.failed - stopped, 'spider has', 'spiders have');
  return { kind: 'bad', text: `${number} failed:`, links };
}

function requeueAlike(why: string, refresh: () => void): void {
  get<{ name: string; state: State }[]>('api/names', { state: 'failed', why })
    .then((found) => askRequeue(new Map(found.map(({ name, state }) => [name, state])), refresh))
    .catch((error: Error) => notify(error.message, 'failed'));
}

function alertElement({ kind, text, code, links = [] }: Alert): HTMLElement {
  return h(
    'div',
    { class: `alert is-${kind}` },
    h('p', {}, text, code !== undefined && ' ', code !== undefined && h('code', {}, code)),
    ...links,
  );
}

/** Where Redis is, and what it should be set to and is not. */
export function footOf({ redis, warnings }: Overview): HTMLElement[] {
  return [
    h('p', {}, `Read from Redis at ${line(redis.url)}`),
    ...warnings.map((text) => {
      const parts = line(text).split('`');
      return h('p', {}, ...parts.map((part, i) => (i % 2 === 1 ? h('code', {}, part) : part)));
    }),
  ];
}

/** The four states with their counts, and how many end a minute. */
export class Tiles {
  readonly element: HTMLElement;
  readonly #numbers = new Map<State, HTMLElement>();
  readonly #links = new Map<State, HTMLAnchorElement>();
  readonly #parts = new Map<State, HTMLElement>();
  readonly #pace = h('p', { class: 'pace' });
  readonly #plot = h('div', { class: 'plot' });

  constructor() {
    const tiles = states.map((state) => {
      const number = h('b', {}, '–');
      this.#numbers.set(state, number);
      const link = h(
        'a',
        { class: `tile is-${state}`, href: hrefOf({ state }) },
        h('span', {}, state),
        number,
      );
      this.#links.set(state, link);
      return link;
    });
    const bar = states.toReversed().map((state) => {
      const part = h('i', { class: `is-${state}` });
      this.#parts.set(state, part);
      return part;
    });
    this.element = h(
      'section',
      { class: 'summary', 'aria-label': 'All spiders' },
      h('nav', { class: 'tiles', 'aria-label': 'Spiders by state' }, ...tiles),
      h('div', { class: 'throughput' }, this.#pace, this.#plot),
      h('div', { class: 'progress', 'aria-hidden': 'true' }, ...bar),
    );
  }

  update({ counts, ended, retrying }: Overview, chosen: string | undefined): void {
    for (const state of states) {
      const number = this.#numbers.get(state)!;
      setText(number, count(counts[state]));
      setAttribute(number, 'class', counts[state] === 0 ? 'is-none' : undefined);
      const link = this.#links.get(state)!;
      setAttribute(link, 'aria-current', state === chosen ? 'page' : undefined);
      // A second click shows all again.
      link.href = hrefOf({ state: state === chosen ? undefined : state });
      this.#parts.get(state)!.style.flexGrow = String(counts[state]);
    }
    setAttribute(
      this.#links.get('pending')!,
      'title',
      retrying > 0
        ? `${plural(retrying, 'spider')} of them failed before and will be tried again`
        : undefined,
    );
    // Full steps of the last ten minutes, from the first one in which something ended.
    const recent = ended.slice(-21, -1);
    const begin = recent.findIndex((one) => one.finished + one.failed > 0);
    const total = recent.reduce((sum, one) => sum + one.finished + one.failed, 0);
    const perMinute = begin === -1 ? 0 : (total * 2) / (recent.length - begin);
    const left = counts.pending + counts.running;
    const eta =
      perMinute > 0 && left > 0 ? `, about ${duration((left / perMinute) * 60)} left` : '';
    setText(
      this.#pace,
      total === 0
        ? 'No spider ended in the last 10 minutes'
        : `${rate(perMinute)} end a minute${eta}`,
    );
    this.#plot.replaceChildren(endedBars(ended));
  }
}
