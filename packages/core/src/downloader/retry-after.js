const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
// The three forms of RFC 9110 §5.6.7; the last has no zone.
const imf = /^[a-z]{3}, (\d{2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) gmt$/;
const rfc850 = /^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) gmt$/;
const asctime = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;
/**
 * How long a `Retry-After` header asks to wait.
 *
 * @param value - The header: seconds (`120`) or an HTTP date.
 * @param now - Milliseconds since the epoch, as from `Date.now()`.
 * @returns Seconds, never negative; `undefined` where the header is neither.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 | RFC 9110 §10.2.3}
 */
export function parseRetryAfter(value, now) {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text);
  const at = parseHttpDate(text, now);
  return at === undefined ? undefined : Math.max(0, (at - now) / 1000);
}
/**
 * Milliseconds since the epoch of an HTTP date in any of its three forms, or undefined.
 *
 * @param now - Decides the century of two-digit years: more than 50 years ahead means the past.
 */
export function parseHttpDate(value, now = Date.now()) {
  const text = value.trim().toLowerCase();
  let match = imf.exec(text);
  if (match) return dateOf(+match[3], match[2], match, 1, 4);
  match = rfc850.exec(text);
  if (match) {
    const thisYear = new Date(now).getUTCFullYear();
    let year = thisYear - (thisYear % 100) + Number(match[3]);
    if (year > thisYear + 50) year -= 100;
    return dateOf(year, match[2], match, 1, 4);
  }
  match = asctime.exec(text);
  return match ? dateOf(+match[6], match[1], match, 2, 3) : undefined;
}
function dateOf(year, monthName, match, dayAt, timeAt) {
  const month = months.indexOf(monthName);
  const day = Number(match[dayAt]);
  const [hour, minute, second] = [match[timeAt], match[timeAt + 1], match[timeAt + 2]].map(Number);
  if (month < 0 || hour > 23 || minute > 59 || second > 60) return undefined;
  const at = Date.UTC(year, month, day, hour, minute, second);
  // 31 Feb would become a day in March.
  return new Date(Date.UTC(year, month, day)).getUTCDate() === day ? at : undefined;
}
/**
 * Seconds that a 429 or 503 asks to wait, by the clock of the server where it sends its `Date`. A moment
 * that has passed says nothing. Undefined for other statuses and unreadable headers.
 */
export function retryAfterOf(response, now = Date.now()) {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const value = response.header('retry-after');
  if (value === undefined) return undefined;
  const date = response.header('date');
  const seconds = parseRetryAfter(value, (date && parseHttpDate(date, now)) || now);
  return seconds === 0 ? undefined : seconds;
}
//# sourceMappingURL=retry-after.js.map
