import { styleText } from 'node:util';

import { createLogUpdate } from 'log-update';
import {
  type Crawler,
  type CrawlResult,
  createLogger,
  type RootLogger,
  type Settings,
} from 'lycosa';

import { escapeControls } from './options.ts';
import { feedOf, type StoredFeed, summaryLines } from './summary.ts';

const redrawMs = 250;
/** The rate is that of the last so many milliseconds. */
const rateWindowMs = 10_000;

/** What the live block says of a crawl. */
export interface LiveView {
  readonly spider: string;
  readonly seconds: number;
  readonly pages: number;
  readonly items: number;
  readonly errors: number;
  readonly pagesPerMinute: number;
  readonly inFlight: number;
  /** Requests that only the delay of their site holds back. */
  readonly waitingForDelay: number;
  readonly queued: number;
  /** At most three, the slowest first. */
  readonly slowest: readonly { readonly key: string; readonly delay: number }[];
}

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

/** The terminal during a crawl: log lines pass above one block that is drawn four times a second, and a summary ends it. */
export class Terminal {
  /**
   * Undefined where nothing is drawn: off a terminal, without a log, or where items are written to the same terminal.
   * The block takes the place of the progress lines and of the dump of stats.
   */
  static open(
    settings: Settings,
    stream: NodeJS.WriteStream = process.stderr,
  ): Terminal | undefined {
    const isWanted =
      stream.isTTY &&
      process.env.TERM !== 'dumb' &&
      settings.get('LOG_ENABLED') &&
      settings.get('LOG_FORMAT') === 'text' &&
      !(process.stdout.isTTY && writesToStdout(settings));
    if (!isWanted) return undefined;
    settings.set('LOGSTATS_INTERVAL', 0, 'command');
    settings.set('STATS_DUMP', false, 'command');
    return new Terminal(settings, stream);
  }

  readonly logger: RootLogger;
  readonly #stream: NodeJS.WriteStream;
  readonly #draw: ReturnType<typeof createLogUpdate>;
  readonly #paint: Paint;
  readonly #feeds: StoredFeed[] = [];
  readonly #samples: { readonly time: number; readonly pages: number }[] = [];
  readonly #start = performance.now();
  readonly #onExit = (): void => this.#flush();
  /** Log lines since the last drawing: many lines are one write. */
  #lines = '';
  #crawler: Crawler | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushTimer: NodeJS.Timeout | undefined;

  private constructor(settings: Settings, stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#draw = createLogUpdate(stream, { showCursor: true });
    this.#paint = (style, text) => styleText(style, text, { stream });
    const file = settings.get('LOG_FILE');
    this.logger = createLogger({
      level: settings.get('LOG_LEVEL'),
      format: 'text',
      redact: settings.get('LOG_REDACT'),
      ...(file
        ? { file, append: settings.get('LOG_FILE_APPEND') }
        : { destination: { write: (line: string) => this.#print(line) } }),
    });
    process.on('exit', this.#onExit);
  }

  /** Draws what becomes of this crawl. */
  watch(crawler: Crawler): void {
    this.#crawler = crawler;
    crawler.signals.connect('feed_slot_closed', ({ slot }) => {
      const feed = feedOf(slot);
      if (feed) this.#feeds.push(feed);
    });
    this.#timer = setInterval(() => this.#redraw(), redrawMs);
  }

  /** Takes the block away and says how the crawl ended. */
  async close(result: CrawlResult): Promise<void> {
    clearInterval(this.#timer);
    this.#crawler = undefined;
    await this.logger.close();
    this.#flush();
    this.#draw.clear();
    process.off('exit', this.#onExit);
    if (!this.logger.isEnabled('INFO')) return;
    const seconds = (performance.now() - this.#start) / 1000;
    const lines = summaryLines(result, seconds, this.#feeds).map(([name, text]) => {
      const style = name === 'error' || (name === 'reason' && !result.ok) ? 'red' : 'reset';
      return `${this.#paint('dim', name.padEnd(10))}${this.#paint(style, text)}`;
    });
    this.#stream.write(`\n${lines.join('\n')}\n\n`);
  }

  #print(line: string): void {
    this.#lines += line;
    this.#flushTimer ??= setTimeout(() => this.#flush(), 50);
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (this.#lines === '') return;
    this.#draw.clear();
    this.#stream.write(this.#lines);
    this.#lines = '';
    this.#redraw();
  }

  #redraw(): void {
    if (this.#crawler?.engine === undefined) return;
    const width = (this.#stream.columns ?? 80) - 1;
    const view = liveView(this.#crawler, (performance.now() - this.#start) / 1000, this.#rate());
    this.#draw(blockLines(view, width, this.#paint).join('\n'));
  }

  /** Pages a minute, over the last seconds. */
  #rate(): number {
    const time = performance.now();
    const pages = Number(this.#crawler?.stats.get('response_received_count') ?? 0);
    const samples = this.#samples;
    samples.push({ time, pages });
    while (samples.length > 2 && time - samples[0]!.time > rateWindowMs) samples.shift();
    const [first] = samples;
    const elapsed = time - first!.time;
    return elapsed < redrawMs ? 0 : ((pages - first!.pages) / elapsed) * 60_000;
  }
}

/** The state of a crawl that has its engine. */
function liveView(crawler: Crawler, seconds: number, pagesPerMinute: number): LiveView {
  const { stats, slots, engine } = crawler;
  const count = (name: string): number => Number(stats.get(name) ?? 0);
  const now = performance.now();
  const pending = engine?.scheduler.pending ?? 0;
  let inSlots = 0;
  let heldBack = 0;
  const delayed: { key: string; delay: number }[] = [];
  for (const slot of slots.entries()) {
    inSlots += slot.queued;
    // The head of the line of a site that may not send yet.
    if (slot.nextAt > now && !slot.isIdle) heldBack += Math.max(slot.queued, 1);
    if (slot.delay > 0) delayed.push({ key: slot.key, delay: slot.delay });
  }
  return {
    spider: crawler.spiderClass.name,
    seconds,
    pages: count('response_received_count'),
    items: count('item_scraped_count'),
    errors: count('log_count/ERROR') + count('log_count/CRITICAL'),
    pagesPerMinute,
    inFlight: engine?.inFlight ?? 0,
    waitingForDelay: Math.min(heldBack, pending + inSlots),
    queued: pending,
    slowest: delayed.toSorted((a, b) => b.delay - a.delay).slice(0, 3),
  };
}

/** The block, no line longer than `width`. */
export function blockLines(
  view: LiveView,
  width: number,
  paint: Paint = (_, text) => text,
): string[] {
  const { spider, seconds, errors } = view;
  const cell = (name: string, value: string, style: Style = 'bold'): Cell => ({
    name,
    value,
    style,
  });
  const rows: readonly (readonly Cell[])[] = [
    [cell('', escapeControls(spider), ['bold', 'cyan']), cell('elapsed', clock(seconds))],
    [
      cell('pages', whole(view.pages)),
      cell('items', whole(view.items)),
      cell('errors', whole(errors), errors > 0 ? ['bold', 'red'] : 'bold'),
      cell('pages/min', whole(view.pagesPerMinute)),
    ],
    [
      cell('in flight', whole(view.inFlight)),
      cell('waiting for delay', whole(view.waitingForDelay)),
      cell('queued', whole(view.queued)),
    ],
    view.slowest.map(({ key, delay }, at) =>
      cell(at === 0 ? 'slowest' : '', `${escapeControls(key)} ${delay.toFixed(2)} s`, 'reset'),
    ),
  ];
  return ['', ...rows.filter((row) => row.length > 0).map((row) => line(row, width, paint))];
}

interface Cell {
  readonly name: string;
  readonly value: string;
  readonly style: Style;
}

/** The cells beside each other; what is too long is cut before it is coloured. */
function line(cells: readonly Cell[], width: number, paint: Paint): string {
  let left = Math.max(width, 0);
  const take = (text: string): string => {
    const part = text.length <= left ? text : left > 0 ? `${text.slice(0, left - 1)}…` : '';
    left -= part.length;
    return part;
  };
  let text = '';
  for (const [at, { name, value, style }] of cells.entries()) {
    if (left <= 0) break;
    text += take(at === 0 ? '' : '   ');
    if (name !== '') text += paint('dim', take(`${name} `));
    const part = take(value);
    if (part !== '') text += paint(style, part);
  }
  return text;
}

function clock(seconds: number): string {
  const total = Math.floor(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(total / 60) % 60;
  const hours = Math.floor(total / 3600);
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(total % 60)}`
    : `${minutes}:${two(total % 60)}`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function writesToStdout(settings: Settings): boolean {
  const uris = [...Object.keys(settings.get('FEEDS')), ...Object.keys(settings.get('FEEDS_ADDED'))];
  return uris.some((uri) => uri === '-' || uri.startsWith('stdout:'));
}
