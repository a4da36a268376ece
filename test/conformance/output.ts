import { createLogger, Request, Response, Settings } from 'lycosa';

import { parseRetryAfter } from '../../packages/core/src/downloader/retry-after.ts';
import { nextDelay } from '../../packages/core/src/extensions/auto-throttle.ts';
import { CsvRecords, parseCsvRecord } from '../../packages/core/src/feeds/exporters/csv-rows.ts';
import { CsvExporter } from '../../packages/core/src/feeds/exporters/csv.ts';
import { redactText } from '../../packages/core/src/log/logger.ts';
import { bytesOf, type Data, type Judge, same, type Verdict } from './vectors.ts';

export const outputJudges: Readonly<Record<string, Judge>> = {
  autothrottle(one) {
    const got = nextDelay({
      delay: one.delay,
      latency: one.latency,
      status: one.status,
      target: one.target_concurrency,
      min: one.mindelay,
      max: one.maxdelay,
    });
    return Math.abs(got - one.new_delay) < 1e-9 || { got };
  },

  retry_after({ value, now, delay_ms: expected }) {
    const seconds = parseRetryAfter(value, Date.parse(now as string));
    const got = seconds === undefined ? null : seconds * 1000;
    const right = [expected].flat() as (number | string | null)[];
    // Whoever waits has the bound: RETRY_AFTER_MAX.
    return right.includes(got) || (right.includes('cap') && Number(got) > 1e9) || { got };
  },

  log_lines({ value, secret }) {
    return judgeLog('text', value, secret) === true ? judgeLog('json', value, secret) : false;
  },

  csv_injection({ value, formula_like: isFormula }) {
    const columns = { a: 'x', b: value as string, c: 'y' };
    const escaped = rowsOf(
      Buffer.from(new CsvExporter({ escapeFormulas: true }).item(columns)),
    )[1]!;
    const plain = rowsOf(Buffer.from(new CsvExporter().item(columns)))[1]!;
    const expected = isFormula ? `'${value}` : value;
    return same(
      [escaped, plain],
      [
        ['x', expected, 'y'],
        ['x', value, 'y'],
      ],
    );
  },

  csv_read({ csv, rows }) {
    const [header = [], ...records] = rowsOf(bytesOf(csv));
    const got = records.map((cells) =>
      Object.fromEntries(header.map((name, at) => [name, cells[at]])),
    );
    // One file comes with a row of another number: as with null, only the shape is asked.
    if (!Array.isArray(rows))
      return records.every((cells) => cells.length === header.length) || { got };
    return same(got, rows);
  },

  prototype_pollution({ json }) {
    const before = Reflect.ownKeys(Object.prototype).length;
    const value = new Response('http://h.test/', {
      body: Buffer.from(json as string),
    }).json<Data>();
    // As text and as an object, into all that merges.
    const settings = new Settings({ DOWNLOAD_SLOTS: value as Record<string, never> });
    settings.set('DOWNLOAD_SLOTS', value, 'cmdline');
    const request = new Request('http://h.test/', { meta: { value, ...value } });
    const copy = request.replace({ meta: { ...request.meta, ...JSON.parse(json as string) } });
    new CsvExporter().item({ ...value, value });
    const isClean =
      ({} as Data).polluted === undefined &&
      ({} as Data).proxy === undefined &&
      copy.meta.proxy === undefined &&
      Reflect.ownKeys(Object.prototype).length === before;
    return isClean && same(copy.meta.value, JSON.parse(json as string));
  },
};

function rowsOf(bytes: Buffer): string[][] {
  const records = new CsvRecords();
  const whole = records.push(bytes);
  if (records.rest.length > 0) whole.push(records.rest);
  return whole.map((record) => parseCsvRecord(record.toString(), ','));
}

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const unprintable = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

function judgeLog(format: 'text' | 'json', value: string, secret: readonly string[]): Verdict {
  let out = '';
  const log = createLogger({ format, destination: { write: (line) => void (out += line) } });
  log.info(value, { value, error: new Error(value) });
  log.child({ spider: value }).info('x');
  const lines = out.split('\n');
  const isRight =
    lines.length === 3 &&
    !secret.some((one) => out.includes(one)) &&
    (format === 'json' || !unprintable.test(out));
  if (!isRight) return { got: out };
  if (format === 'text') return true;
  return same((JSON.parse(lines[0]!) as Data).msg, redactText(value));
}
