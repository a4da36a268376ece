import type { Log } from './api.ts';
import { button, h, setAttribute, setText } from './dom.ts';
import { get } from './net.ts';
import { plural, shown } from './text.ts';

const tail = 1000;

/** The last lines of a run's log; follows it while the end is in sight. */
export class LogView {
  readonly element: HTMLElement;
  readonly #name: string;
  readonly #box: HTMLElement;
  readonly #title = h('h2', { id: 'log-title' }, 'Log');
  readonly #note = h('p', { class: 'empty' }, 'Reading the log');
  readonly #search = h('input', {
    type: 'search',
    placeholder: 'Filter lines',
    'aria-label': 'Filter lines of the log',
  });
  readonly #follow: HTMLButtonElement;
  #attempt: number | undefined;
  #lines: readonly string[] = [];
  #shownAttempt: number | undefined;
  #isFollowing = true;

  constructor(name: string, attempt: number | undefined) {
    this.#name = name;
    this.#attempt = attempt;
    this.#box = h('div', {
      class: 'log-lines',
      role: 'log',
      'aria-live': 'off',
      'aria-labelledby': 'log-title',
      tabindex: 0,
    });
    this.#box.addEventListener('scroll', () => this.#setFollowing(this.#isAtEnd()));
    this.#follow = button('Follow', () => {
      this.#setFollowing(!this.#isFollowing);
      if (this.#isFollowing) this.#toEnd();
    });
    const wrap = button('Wrap', () => {
      const isWrapped = this.#box.classList.toggle('is-wrapped');
      setAttribute(wrap, 'aria-pressed', String(isWrapped));
    });
    setAttribute(wrap, 'aria-pressed', 'false');
    this.#setFollowing(true);
    this.#search.addEventListener('input', () => this.#filter());
    this.element = h(
      'section',
      { class: 'panel log', 'aria-labelledby': 'log-title' },
      h(
        'div',
        { class: 'panel-head' },
        this.#title,
        h('div', { class: 'tools' }, this.#search, wrap, this.#follow),
      ),
      this.#box,
      this.#note,
    );
  }

  show(attempt: number): void {
    this.#attempt = attempt;
    this.#setFollowing(true);
  }

  async refresh(): Promise<void> {
    const asked = this.#attempt;
    const { attempt, lines } = await get<Log>('api/log', {
      name: this.#name,
      attempt: asked,
      tail,
    });
    if (asked !== this.#attempt) return;
    if (attempt !== this.#shownAttempt) {
      this.#box.replaceChildren();
      this.#lines = [];
      this.#shownAttempt = attempt;
    }
    setText(this.#title, attempt > 0 ? `Log of run ${attempt}` : 'Log');
    this.#take(lines);
    this.#note.hidden = lines.length > 0;
    this.#box.hidden = lines.length === 0;
    setText(
      this.#note,
      attempt > 0
        ? 'Nothing was logged yet, or the lines are no longer kept in Redis. All of them are on the machine that ran it, in FLEET_DIR.'
        : 'It has not run yet.',
    );
  }

  /** The old lines that are still there stay in place, so that a selection and the scroll position do too. */
  #take(lines: readonly string[]): void {
    const gone = goneBefore(this.#lines, lines);
    const kept = this.#lines.length - gone;
    if (gone === 0 && kept === lines.length) return;
    for (let i = 0; i < gone; i++) this.#box.firstElementChild?.remove();
    this.#box.append(...lines.slice(kept).map(lineElement));
    this.#lines = lines;
    this.#filter();
    if (this.#isFollowing) this.#toEnd();
  }

  #filter(): void {
    const search = this.#search.value.toLowerCase();
    let hits = 0;
    for (const [i, element] of [...this.#box.children].entries()) {
      const isHit = this.#lines[i]!.toLowerCase().includes(search);
      if (isHit) hits++;
      setAttribute(element, 'hidden', !isHit);
    }
    setAttribute(this.#search, 'title', search ? plural(hits, 'line') : undefined);
  }

  #setFollowing(isFollowing: boolean): void {
    this.#isFollowing = isFollowing;
    setAttribute(this.#follow, 'aria-pressed', String(isFollowing));
  }

  #isAtEnd(): boolean {
    return this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 24;
  }

  #toEnd(): void {
    this.#box.scrollTop = this.#box.scrollHeight;
  }
}

/** How many of the old lines no longer stand before the new ones. */
function goneBefore(old: readonly string[], lines: readonly string[]): number {
  for (let gone = 0; gone < old.length; gone++) {
    const kept = old.length - gone;
    if (kept <= lines.length && old.slice(gone).every((text, i) => text === lines[i])) return gone;
  }
  return old.length;
}

function lineElement(text: string): HTMLElement {
  const level = /\b(DEBUG|WARN(?:ING)?|ERROR|CRITICAL)\b/.exec(text.slice(0, 120))?.[1];
  const kind = { DEBUG: 'debug', WARN: 'warn', WARNING: 'warn', ERROR: 'bad', CRITICAL: 'bad' }[
    level ?? ''
  ];
  return h('div', { class: kind && `is-${kind}`, dir: 'auto' }, shown(text));
}
