// Crawls a site that slows down, then refuses above 8 requests a second, then recovers, and draws what happened
// into docs/politeness.svg.
//
//   node --conditions=lycosa-source test/politeness/plot.mjs
import { writeFileSync } from 'node:fs';

import { CrawlerProcess, createLogger, Request, Spider } from 'lycosa';

import { scriptedSite } from './scripted-site.mjs';

const seconds = 120;
let allowed = [];
const site = await scriptedSite((_, at) => {
  if (at < 12) return { latencyMs: 60 };
  if (at < 24) return { latencyMs: 400 };
  if (at < 48) {
    allowed = allowed.filter((time) => time > at - 1);
    if (allowed.length >= 8) return { status: 429, latencyMs: 10 };
    allowed.push(at);
  }
  return { latencyMs: 60 };
});
class Plot extends Spider {
  static name = 'plot';
  *start() {
    for (let i = 0; ; i++) yield new Request(`${site.url}/${i}`);
  }
  parse() {}
}
const crawls = new CrawlerProcess({
  settings: {
    AUTOTHROTTLE_ENABLED: true,
    AUTOTHROTTLE_START_DELAY: 1,
    AUTOTHROTTLE_TARGET_CONCURRENCY: 1,
    RETRY_ENABLED: false,
    ROBOTSTXT_OBEY: false,
    LOGSTATS_INTERVAL: 0,
  },
  logger: createLogger({ level: 'CRITICAL' }),
});
const done = crawls.crawl(Plot);
const start = performance.now();
const samples = [];
const timer = setInterval(() => {
  const [slot] = crawls.slots();
  if (slot) samples.push({ at: (performance.now() - start) / 1000, delay: slot.delay });
}, 50);
await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
clearInterval(timer);
crawls.stop('fast');
await done;
await crawls.close();
site.close();

const [width, height, left, top, bottom] = [860, 380, 56, 24, 36];
const most = Math.max(...samples.map(({ delay }) => delay), 1);
const x = (at) => (left + (at / seconds) * (width - left - 16)).toFixed(1);
const y = (value) => (height - bottom - (value / most) * (height - top - bottom)).toFixed(1);
const line = (points) => points.map(([at, value]) => `${x(at)},${y(value)}`).join(' ');
const phases = [
  [0, 12, '60 ms', '#f4f6f8'],
  [12, 24, '400 ms', '#e7ecf1'],
  [24, 48, '8 a second, else 429', '#f4f6f8'],
  [48, seconds, '60 ms, all allowed', '#e7ecf1'],
];
const parts = phases.flatMap(([from, to, text, color]) => [
  `<rect x="${x(from)}" y="${top}" width="${x(to) - x(from)}" height="${height - top - bottom}" fill="${color}"/>`,
  `<text x="${Number(x(from)) + 6}" y="${top + 16}">${text}</text>`,
]);
for (let at = 0; at <= seconds; at += 20)
  parts.push(`<text x="${x(at)}" y="${height - 14}" text-anchor="middle">${at} s</text>`);
for (let i = 0; i <= 4; i++) {
  const value = (most * i) / 4;
  parts.push(
    `<text x="${left - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${value.toFixed(2)} s</text>`,
    `<line x1="${left}" x2="${width - 16}" y1="${y(value)}" y2="${y(value)}" stroke="#d3dae1"/>`,
  );
}
const answers = site.requests.filter(({ seconds: at }) => at <= seconds);
for (const { seconds: at, status, latencyMs } of answers) {
  const color = status === 200 ? '#5b8c5a' : '#c0392b';
  parts.push(`<circle cx="${x(at)}" cy="${y(latencyMs / 1000)}" r="2.2" fill="${color}"/>`);
}
parts.push(
  `<polyline points="${line(samples.map(({ at, delay }) => [at, delay]))}" fill="none" stroke="#1f5fa8" stroke-width="1.6"/>`,
);
writeFileSync(
  new URL('../../docs/politeness.svg', import.meta.url),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#39424c">
<title>Delay of a slot (line) and latency of each answer (dots; red is a 429) over time</title>
<rect width="${width}" height="${height}" fill="#fff"/>
${parts.join('\n')}
</svg>
`,
);
const refused = answers.filter(({ status }) => status === 429);
const limited = answers.filter(({ seconds: at }) => at >= 24 && at < 48);
console.log(
  `${answers.length} answers, ${refused.length} refused; ${limited.length - refused.length} of 192 that were allowed from 24 to 48 s`,
);
