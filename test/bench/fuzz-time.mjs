// CPU time against size for what reads text of strangers; twice the text must take about twice as long, far from four times.
// node --conditions=lycosa-source test/bench/fuzz-time.mjs [BYTES]
import { canonicalizeUrl } from 'lycosa';

import { LenientReader } from '../../packages/core/src/downloader/handlers/lenient.ts';
import { CookieStore } from '../../packages/core/src/downloader/middlewares/cookie-store.ts';
import { getMetaRefresh } from '../../packages/core/src/downloader/middlewares/meta-refresh.ts';
import { retryAfterOf } from '../../packages/core/src/downloader/retry-after.ts';
import { RobotsTxt } from '../../packages/core/src/downloader/robots-parser.ts';
import { createResponse } from '../../packages/core/src/http/response-types.ts';
import { safeUrl } from '../../packages/core/src/http/url.ts';
import { redactText } from '../../packages/core/src/log/logger.ts';

const size = Number(process.argv[2] ?? 500_000);
const fill = (unit, n, before = '', after = '') =>
  before + unit.repeat(Math.ceil(n / unit.length)) + after;
const url = 'http://h.test/';
const page = (body, headers = { 'content-type': 'text/html' }) =>
  createResponse(url, { body: Buffer.from(body), headers });
const units = [
  'a',
  ' ',
  '\t',
  '\n',
  '<',
  '&',
  '=',
  ';',
  ',',
  '"',
  "'",
  '%',
  '/',
  '\\',
  '#',
  '?',
  '<a ',
  '<!--',
  '<meta ',
  '<base ',
  'a=',
  'a="',
  '&#',
  '$',
  '*',
  '=?',
  '*/',
  '../',
  '@',
  '://',
  ': ',
  '\r\n',
  '<script>',
  '</script',
  '<noscript>',
  'url=',
  'charset=',
  '<?xml ',
  '{"',
  '[',
  '0',
  'é',
];
const store = () => new CookieStore({ rejectsPublicSuffixes: true, maxPerDomain: 180 });
const lenient = (text) => {
  const sink = { onStart() {}, onData() {}, onEnd() {}, onFailure() {} };
  const reader = new LenientReader(sink, true, 65_536);
  const bytes = Buffer.from(text, 'latin1');
  for (let i = 0; i < bytes.length; i += 1000) reader.push(bytes.subarray(i, i + 1000));
};
const functions = {
  robots: (t) => new RobotsTxt(Buffer.from(t)).isAllowed(`${url}a`, 'bot'),
  'robots rule': (t) =>
    new RobotsTxt(Buffer.from(`User-agent: *\nDisallow: /${t}x\n`)).isAllowed(
      `${url}${'a'.repeat(2000)}`,
      'bot',
    ),
  'robots path': (t) =>
    new RobotsTxt(Buffer.from('User-agent: *\nDisallow: /*a*a*a*b$\nAllow: /*x*y$\n')).isAllowed(
      url + t.replace(/[\s#]/g, 'a'),
      'bot',
    ),
  'meta refresh': (t) => getMetaRefresh(t, url),
  'meta refresh content': (t) => getMetaRefresh(`<meta http-equiv=refresh content="0;${t}">`, url),
  charset: (t) => page(t).encoding,
  'charset meta': (t) => page(`<meta charset="${t}`).encoding,
  'content-type': (t) => page('x', { 'content-type': `text/html; charset=${t}` }).encoding,
  'content-type whole': (t) => page('x', { 'content-type': t }).isText,
  disposition: (t) => page('x', { 'content-disposition': `attachment; filename=${t}` }).isText,
  base: (t) => page(`<base href="${t}">`).baseUrl,
  'set-cookie': (t) => store().setFromHeader(t, url),
  'set-cookie value': (t) => store().setFromHeader(`a=${t}`, url),
  'set-cookie expires': (t) => store().setFromHeader(`a=b; expires=${t}`, url),
  'retry-after': (t) => retryAfterOf(page('', { 'retry-after': t.replace(/[\r\n]/g, ' ') })),
  canonicalize: (t) => canonicalizeUrl(url + t),
  'canonicalize query': (t) => canonicalizeUrl(`${url}?${t}`),
  'safe url': (t) => safeUrl(url + t),
  redact: (t) => redactText(t),
  'redact url': (t) => redactText(`http://${t}@h`),
  'lenient reader': lenient,
  'lenient header': (t) => lenient(`HTTP/1.1 200 OK\r\nX-A: ${t}\r\n\r\n`),
  'lenient chunk': (t) => lenient(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${t}`),
  location: (t) => URL.parse(t, url),
};
let bad = 0;
/** Milliseconds, the best of three: others may use the machine. */
const cpu = (run) => Math.min(measure(run), measure(run), measure(run));
function measure(run) {
  const start = process.cpuUsage();
  try {
    run();
  } catch {
    // A refusal is fine.
  }
  return process.cpuUsage(start).user / 1000;
}
for (const [name, run] of Object.entries(functions)) {
  let worst = { once: 0, twice: 0, unit: '' };
  for (const unit of units) {
    const once = cpu(() => run(fill(unit, size)));
    if (once < 5) continue;
    const twice = cpu(() => run(fill(unit, 2 * size)));
    if (twice > worst.twice) worst = { once, twice, unit };
  }
  const isBad = worst.twice > 40 && worst.twice > 3.3 * worst.once;
  if (isBad) bad++;
  console.log(
    `${isBad ? 'BAD ' : '    '}${name.padEnd(22)} ${worst.once.toFixed(0).padStart(6)} ms ${worst.twice.toFixed(0).padStart(6)} ms  ${JSON.stringify(worst.unit)}`,
  );
}
process.exitCode = bad > 0 ? 1 : 0;
