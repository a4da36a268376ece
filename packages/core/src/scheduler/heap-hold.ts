import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Where V8's young generation is kept: it takes twice that and more of the memory of the process. Node 24 lets it grow
 * to 128 MiB, which a crawl whose requests come and go at once always reaches.
 */
const youngBytes = 15 * 2 ** 20;

/** Pending requests from which on memory is worth more than the time of the garbage collector. */
const largeJob = 100_000;

let isYoungHeld = false;
let isOldHeld = false;

/**
 * A job is for crawls that do not fit into memory, so V8 must not take what the frontier saves: it is told not to let
 * its heap grow further. These are flags of the process, left alone where its command line or `NODE_OPTIONS` has some
 * about the heap. Called now and then; it costs some microseconds until there is nothing left to tell.
 *
 * @param pending - Requests that wait.
 */
export function holdHeap(pending: number): void {
  if (isYoungHeld && (isOldHeld || pending < largeJob)) return;
  const isChosen = /semi[-_]space|old[-_]space|heap[-_]growing/.test(
    `${process.execArgv.join(' ')} ${process.env.NODE_OPTIONS ?? ''}`,
  );
  if (isChosen) isYoungHeld = isOldHeld = true;
  if (!isYoungHeld && youngSize() >= youngBytes) {
    isYoungHeld = true;
    setFlagsFromString('--semi-space-growth-factor=1');
  }
  if (!isOldHeld && pending >= largeJob) {
    isOldHeld = true;
    setFlagsFromString('--heap-growing-percent=50');
  }
}

function youngSize(): number {
  return getHeapSpaceStatistics().find((one) => one.space_name === 'new_space')?.space_size ?? 0;
}
