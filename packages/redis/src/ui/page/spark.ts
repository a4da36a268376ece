import type { Ended, Run, SlotStep } from './api.ts';
import { h, svg } from './dom.ts';
import { duration, line, shown } from './text.ts';

const width = 96;
const height = 24;

/** A line through values from 0 to `top`, the latest at the right end. */
export function sparkline(values: readonly number[], top: number, length: number): string {
  if (values.length < 2) return '';
  const step = width / (length - 1);
  const start = width - (values.length - 1) * step;
  return values
    .map((value, i) => `${i === 0 ? 'M' : 'L'}${round(start + i * step)} ${round(y(value, top))}`)
    .join('');
}

/** A delay over time as steps, the last `spanMs` of it. */
export function steps(
  changes: readonly SlotStep[],
  delay: number,
  now: number,
  spanMs: number,
): string {
  const top = Math.max(delay, ...changes.flatMap(({ from, to }) => [from, to]), 0.001) * 1.1;
  const begin = now - spanMs;
  const x = (time: number): number => round(((Math.max(time, begin) - begin) / spanMs) * width);
  let path = `M0 ${round(y(changes[0]?.from ?? delay, top))}`;
  for (const { time, from, to } of changes) {
    if (time < begin) path = `M0 ${round(y(to, top))}`;
    else path += `L${x(time)} ${round(y(from, top))}V${round(y(to, top))}`;
  }
  return `${path}L${width} ${round(y(delay, top))}`;
}

/** The place for a line; its name tells those who do not see it. */
export function plot(): { element: SVGSVGElement; update(path: string, name: string): void } {
  const lineOf = svg('path', { class: 'spark-line' });
  const area = svg('path', { class: 'spark-area' });
  const title = svg('title');
  const element = svg(
    'svg',
    { class: 'spark', role: 'img', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' },
    title,
    area,
    lineOf,
  );
  return {
    element,
    update(path, name) {
      if (title.textContent !== name) title.textContent = name;
      if (lineOf.getAttribute('d') === path) return;
      lineOf.setAttribute('d', path);
      const from = /^M([\d.]+)/.exec(path)?.[1] ?? '0';
      area.setAttribute('d', path === '' ? '' : `${path}L${width} ${height}L${from} ${height}Z`);
    },
  };
}

/** How many ended, half a minute a bar, failed ones on top. */
export function endedBars(ended: readonly Ended[]): SVGSVGElement {
  const top = Math.max(4, ...ended.map(({ finished, failed }) => finished + failed));
  const bar = (i: number, from: number, to: number, kind: string): SVGRectElement =>
    svg('rect', {
      class: kind,
      x: i * 10 + 1,
      width: 8,
      y: round(60 - (to / top) * 58),
      height: round(((to - from) / top) * 58),
      rx: 1,
    });
  const bars = ended.flatMap(({ finished, failed }, i) => [
    ...(finished > 0 ? [bar(i, 0, finished, 'bar-finished')] : []),
    ...(failed > 0 ? [bar(i, finished, finished + failed, 'bar-failed')] : []),
  ]);
  return svg(
    'svg',
    {
      viewBox: `0 0 ${ended.length * 10} 60`,
      preserveAspectRatio: 'none',
      class: 'bars',
      'aria-hidden': 'true',
    },
    svg('line', { x1: 0, x2: ended.length * 10, y1: 59.5, y2: 59.5, class: 'axis' }),
    ...bars,
  );
}

/** Runs of a spider, the latest at the right, as high as they took long. */
export function runBars(
  runs: readonly Run[],
  now: number,
  onPick: (run: Run) => void,
): HTMLElement {
  const secondsOf = (run: Run): number =>
    run.seconds ?? ((run.endedAt ?? now) - run.startedAt) / 1000;
  const top = Math.max(0.001, ...runs.map(secondsOf));
  const bars = runs.toReversed().map((run) => {
    const how = run.state ?? 'running';
    const label = `Run ${run.attempt}: ${how}${run.reason ? ` (${line(run.reason)})` : ''}, ${duration(secondsOf(run))}`;
    const bar = h(
      'button',
      {
        type: 'button',
        class: `run-bar is-${how}`,
        title: label,
        'aria-label': `${shown(label)}. Show its log.`,
      },
      h('i'),
    );
    (bar.firstChild as HTMLElement).style.height = `${Math.max(4, (secondsOf(run) / top) * 100)}%`;
    bar.addEventListener('click', () => onPick(run));
    return bar;
  });
  return h('div', { class: 'run-bars' }, ...bars);
}

function y(value: number, top: number): number {
  return height - 1 - (Math.min(value, top) / top) * (height - 3);
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
