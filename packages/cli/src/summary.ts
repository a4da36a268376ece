import { isAbsolute, relative } from 'node:path';

import type { CrawlResult } from 'lycosa';

import { escapeControls } from './options.ts';

/** A file of a feed that is closed. */
export interface StoredFeed {
  readonly location: string;
  readonly itemCount: number;
  readonly isFailed: boolean;
}

/** What `feed_slot_closed` hands out is as its storage: only what every feed has is read. */
export function feedOf(slot: unknown): StoredFeed | undefined {
  const { storage, uri, itemCount, error } = slot as {
    readonly storage?: { readonly location?: string };
    readonly uri?: string;
    readonly itemCount?: number;
    readonly error?: Error;
  };
  const location = storage?.location ?? uri;
  if (location === undefined) return undefined;
  return { location, itemCount: itemCount ?? 0, isFailed: error !== undefined };
}

/** How a crawl ended, for people: names and texts. */
export function summaryLines(
  result: CrawlResult,
  seconds: number,
  feeds: readonly StoredFeed[],
): (readonly [name: string, text: string])[] {
  const { spider, reason, stats, error } = result;
  const count = (name: string): number => Number(stats[name] ?? 0);
  const dropped = Object.entries(stats)
    .filter(([name]) => name.startsWith('request_dropped_count/'))
    .map(([name, value]) => `${name.slice(name.indexOf('/') + 1)} ${whole(Number(value))}`);
  const files = feeds.map(
    ({ location, itemCount, isFailed }) =>
      `${shortPath(location)} (${isFailed ? 'not stored' : `${whole(itemCount)} ${itemCount === 1 ? 'item' : 'items'}`})`,
  );
  const lines: (readonly [string, string])[] = [
    ['spider', spider],
    ['reason', reason],
    ['duration', `${seconds.toFixed(1)} s`],
    ['pages', whole(count('response_received_count'))],
    ['items', whole(count('item_scraped_count'))],
    ['errors', whole(count('log_count/ERROR') + count('log_count/CRITICAL'))],
    ...(dropped.length > 0 ? ([['dropped', dropped.join(', ')]] as const) : []),
    ...files.map(
      (file, at) => [at === 0 ? (files.length > 1 ? 'feeds' : 'feed') : '', file] as const,
    ),
    ...(error ? ([['error', error.message]] as const) : []),
  ];
  return lines.map(([name, text]) => [name, escapeControls(text)] as const);
}

/** As seen from here, where that is shorter. */
function shortPath(path: string): string {
  if (!isAbsolute(path)) return path;
  const short = relative('', path);
  return short.length < path.length ? short : path;
}

function whole(value: number): string {
  return value.toLocaleString('en-US');
}
