/** Numbers, times and foreign text as people read them. */

/** Controls, and marks that change the direction of text: what a page sends must not hide or reorder what is read. */
const invisible =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text of others, so that all of it is seen. Line ends and tabs stay. */
export function shown(text: string): string {
  return text.replaceAll(invisible, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);
}

/** The same on one line. */
export function line(text: string): string {
  return shown(text.replaceAll(/[\n\t]+/g, ' '));
}

const whole = new Intl.NumberFormat('en');
const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export function count(number: number | undefined): string {
  return number === undefined ? '–' : whole.format(Math.round(number));
}

/** `12`, `3.4`, `0.2`. */
export function rate(number: number | undefined): string {
  if (number === undefined) return '–';
  return number >= 10 ? whole.format(Math.round(number)) : tenths.format(number);
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `0.4 s`, `12 s`, `4 min 05 s`, `3 h 20 min`, `2 d 4 h`. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined || Number.isNaN(seconds)) return '–';
  const s = Math.max(0, seconds);
  if (s < 9.95) return `${tenths.format(s)} s`;
  if (s < 119.5) return `${Math.round(s)} s`;
  const minutes = Math.round(s / 60);
  if (s < 600) return `${Math.floor(s / 60)} min ${String(Math.floor(s % 60)).padStart(2, '0')} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `just now`, `12 s ago`, `3 h ago`. */
export function ago(ms: number): string {
  const s = ms / 1000;
  if (s < 2) return 'just now';
  if (s < 120) return `${Math.floor(s)} s ago`;
  if (s < 7200) return `${Math.floor(s / 60)} min ago`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86_400)} d ago`;
}

/** `19:04:12`. */
export function clock(time: number): string {
  return new Date(time).toLocaleTimeString('en-GB');
}

export function megabytes(mb: number): string {
  return mb >= 1000 ? `${tenths.format(mb / 1024)} GB` : `${count(mb)} MB`;
}

/** The machine of an agent's id; with its process where two agents share a machine. */
export function machineName(id: string, all: readonly string[] = []): string {
  const [host = id, pid] = id.split('/');
  const isShared = all.filter((one) => one.split('/')[0] === host).length > 1;
  return line(isShared && pid ? `${host}/${pid}` : host);
}
