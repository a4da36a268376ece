import type { Slot, Slots } from './api.ts';
import { button, h, List, setAttribute, setText, type Shows } from './dom.ts';
import { get } from './net.ts';
import { plot, steps } from './spark.ts';
import { ago, count, duration, line, machineName, plural } from './text.ts';

const fewSlots = 8;
const manySlots = 200;
/** What the plots show: back to the oldest change that is known, within these. */
const minSpanMs = 30_000;
const maxSpanMs = 600_000;

/** The hosts that spiders visit now, those that push back and the busiest first. */
export class SlotsPanel {
  readonly element: HTMLElement;
  readonly #list: List<Known>;
  readonly #search = h('input', {
    type: 'search',
    placeholder: 'Host or machine',
    'aria-label': 'Search slots',
  });
  readonly #total = h('span', { class: 'dim' });
  readonly #empty = h('p', { class: 'empty' });
  readonly #more: HTMLButtonElement;
  readonly #now: () => number;
  #limit = fewSlots;

  constructor(now: () => number) {
    this.#now = now;
    const list = h('ul', { class: 'slots' });
    this.#list = new List(list, () => new SlotItem());
    this.#more = button('Show all', () => {
      this.#limit = this.#limit === fewSlots ? manySlots : fewSlots;
      void this.refresh();
    });
    this.#search.addEventListener('input', () => void this.refresh());
    this.element = h(
      'section',
      { class: 'panel', 'aria-labelledby': 'slots-title' },
      h(
        'div',
        { class: 'panel-head' },
        h('h2', { id: 'slots-title' }, 'Slots ', this.#total),
        this.#search,
      ),
      list,
      this.#empty,
      this.#more,
    );
  }

  async refresh(): Promise<void> {
    const search = this.#search.value;
    const { total, slots } = await get<Slots>('api/slots', { search, limit: this.#limit });
    if (search !== this.#search.value) return;
    const now = this.#now();
    this.#list.update(
      slots.map((slot) => [`${slot.machine} ${slot.spider ?? ''} ${slot.key}`, { slot, now }]),
    );
    setText(this.#total, total > 0 ? plural(total, 'host') : '');
    this.#empty.hidden = total > 0;
    setText(this.#empty, search ? `No slot matches “${line(search)}”.` : 'No host is visited now.');
    this.#search.hidden = total === 0 && search === '';
    this.#more.hidden = total <= fewSlots;
    setText(this.#more, this.#limit === fewSlots ? `Show all ${count(total)}` : 'Show fewer');
  }
}

interface Known {
  readonly slot: Slot;
  readonly now: number;
}

class SlotItem implements Shows<Known> {
  readonly element: HTMLLIElement;
  readonly #name = h('bdi', { class: 'name' });
  readonly #delay = h('b', { class: 'number' });
  readonly #facts = h('span', { class: 'facts' });
  readonly #plot = plot();

  constructor() {
    this.element = h(
      'li',
      {},
      h('div', { class: 'slot-text' }, this.#name, this.#facts),
      this.#plot.element,
      this.#delay,
    );
  }

  update({ slot, now }: Known): void {
    const { key, delay, transferring, queued, concurrency, pausedUntil, changes } = slot;
    const isPaused = pausedUntil === null || (pausedUntil !== undefined && pausedUntil > now);
    setText(this.#name, line(key));
    setText(this.#delay, isPaused ? 'paused' : duration(delay));
    const places = concurrency === null ? '' : ` of ${count(concurrency)}`;
    const owner = slot.spider ? ` · ${line(slot.spider)}` : '';
    const waiting = queued > 0 ? ` · ${count(queued)} queued` : '';
    setText(
      this.#facts,
      `${count(transferring)}${places} busy${waiting} · ${machineName(slot.machine)}${owner}`,
    );
    const last = changes.at(-1);
    const cause = last
      ? `\n${duration(last.to)} since ${ago(now - last.time)}: ${line(last.cause)}`
      : '';
    const parts = `floor ${duration(slot.floor)}, learnt ${duration(slot.learnt)}, pushed back to ${duration(slot.backoff)}`;
    setAttribute(this.element, 'title', `${line(key)}\n${parts}${cause}`);
    setAttribute(this.element, 'class', isPaused || slot.backoff > 0 ? 'is-held' : undefined);
    const oldest = changes[0]?.time ?? now;
    const spanMs = Math.min(maxSpanMs, Math.max(minSpanMs, now - oldest));
    this.#plot.update(
      steps(changes, delay, now, spanMs),
      `Delay at ${line(key)}: ${duration(delay)} now, ${plural(changes.length, 'change')} in the last ${duration(spanMs / 1000)}`,
    );
  }
}
