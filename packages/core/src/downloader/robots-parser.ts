/** One Allow or Disallow line, ready to match. */
interface Rule {
  readonly allow: boolean;
  /** Its octets: the longest matching rule wins. */
  readonly length: number;
  /** The pattern between its `*`. */
  readonly parts: readonly string[];
  /** True where the pattern ends in `$`. */
  readonly anchored: boolean;
}

interface Group {
  readonly rules: Rule[];
  crawlDelay: number | undefined;
  /** Seconds between requests, as `Request-rate` has it. */
  requestGap: number | undefined;
}

/** Spellings found in the field, as Google's parser takes them. */
const spellings: Readonly<Record<string, string>> = {
  useragent: 'user-agent',
  'user agent': 'user-agent',
  dissallow: 'disallow',
  dissalow: 'disallow',
  disalow: 'disallow',
  diasllow: 'disallow',
  disallaw: 'disallow',
  'site-map': 'sitemap',
  'site map': 'sitemap',
  crawldelay: 'crawl-delay',
  'crawl delay': 'crawl-delay',
  requestrate: 'request-rate',
  'request rate': 'request-rate',
};

/** Agents whose group is remembered, and how much of a name is looked at. */
const maxAgents = 64;
const maxAgentLength = 1024;

/** What `ROBOTSTXT_PARSER` makes of a robots.txt file. */
export interface RobotsParser {
  /** @param agent - A product token (`MyCrawler`) or a whole User-Agent header. */
  isAllowed(url: string, agent: string): boolean;
  /** Seconds between two requests that `agent` is asked to keep. */
  crawlDelay?(agent: string): number | undefined;
  requestGap?(agent: string): number | undefined;
}

/** Its constructor takes the bytes of the file. */
export type RobotsParserClass = new (content: Uint8Array) => RobotsParser;

/**
 * A robots.txt file.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9309 | RFC 9309}
 */
export class RobotsTxt implements RobotsParser {
  /** Absolute URLs of the `Sitemap` lines. */
  readonly sitemaps: readonly string[];
  readonly #groups: ReadonlyMap<string, Group>;
  readonly #byAgent = new Map<string, Group | undefined>();

  /** Never throws: what cannot be read says nothing. */
  constructor(content: string | Uint8Array) {
    const text =
      typeof content === 'string'
        ? content
        : Buffer.from(content.buffer, content.byteOffset, content.length).toString('utf8');
    const { groups, sitemaps } = parse(text);
    this.#groups = groups;
    this.sitemaps = sitemaps;
  }

  /**
   * May `agent` fetch `url`?
   *
   * @param url - Absolute, or a path.
   * @param agent - A product token (`MyCrawler`) or a whole User-Agent header.
   */
  isAllowed(url: string, agent: string): boolean {
    const group = this.#groupOf(agent);
    if (group === undefined || group.rules.length === 0) return true;
    const path = normalizeUrl(pathOf(url));
    if (path === '/robots.txt') return true;
    for (const rule of group.rules) if (matches(rule, path)) return rule.allow;
    return true;
  }

  /** Seconds between two requests that `agent` is asked to keep. */
  crawlDelay(agent: string): number | undefined {
    return this.#groupOf(agent)?.crawlDelay;
  }

  /** Seconds between two requests that `Request-rate` comes to: `1/5` is 5, `30/1m` is 2. */
  requestGap(agent: string): number | undefined {
    return this.#groupOf(agent)?.requestGap;
  }

  /** The group that names the agent most closely; else that of `*`. */
  #groupOf(agent: string): Group | undefined {
    if (this.#byAgent.has(agent)) return this.#byAgent.get(agent);
    const group = this.#groups.get(this.#tokenOf(agent.toLowerCase()) ?? '*');
    if (this.#byAgent.size >= maxAgents) this.#byAgent.clear();
    this.#byAgent.set(agent, group);
    return group;
  }

  /** The longest word of the agent that has a group; a group may name just the beginning of the first word. */
  #tokenOf(agent: string): string | undefined {
    const words = agent.slice(0, maxAgentLength).match(/[\p{L}\p{N}_-]+/gu) ?? [];
    let best = '';
    for (const word of words) if (word.length > best.length && this.#groups.has(word)) best = word;
    const first = words[0] ?? '';
    for (let end = first.length; end > best.length; end--) {
      if (this.#groups.has(first.slice(0, end))) return first.slice(0, end);
    }
    return best || undefined;
  }
}

function parse(text: string): { groups: Map<string, Group>; sitemaps: string[] } {
  const groups = new Map<string, Group>();
  const sitemaps: string[] = [];
  let current: Group[] = [];
  let inAgents = false;
  for (const line of text.replace(/^[^\0-\x7f]+/, '').split(/\r\n|\r|\n/)) {
    const [key, value] = directive(line);
    if (key === 'user-agent') {
      if (!inAgents) current = [];
      inAgents = true;
      const group = groupFor(groups, value);
      if (group) current.push(group);
    } else if (key === 'allow' || key === 'disallow') {
      inAgents = false;
      const rules = value && current.length > 0 ? toRules(value, key === 'allow') : [];
      for (const group of current) group.rules.push(...rules);
    } else if (key === 'crawl-delay') {
      inAgents = false;
      const seconds = /^\d*\.?\d+/.exec(value);
      if (seconds) for (const group of current) group.crawlDelay ??= Number(seconds[0]);
    } else if (key === 'request-rate') {
      inAgents = false;
      const seconds = gapOf(value);
      if (seconds !== undefined)
        for (const group of current) group.requestGap = Math.max(group.requestGap ?? 0, seconds);
    } else if (key === 'sitemap') {
      if (value) sitemaps.push(value);
    }
  }
  // Longest first, so that the first match decides; Allow before Disallow where they are equally long.
  for (const { rules } of groups.values()) {
    rules.sort((a, b) => b.length - a.length || Number(b.allow) - Number(a.allow));
  }
  return { groups, sitemaps };
}

/** The hours of the day that may follow are not looked at. */
function gapOf(rate: string): number | undefined {
  const match = /^(\d+)\s*\/\s*(\d+)\s*([smh]?)(?![\w.])/i.exec(rate);
  if (!match || Number(match[1]) === 0) return undefined;
  const unit = { m: 60, h: 3600 }[match[3]!.toLowerCase()] ?? 1;
  return (Number(match[2]) * unit) / Number(match[1]);
}

/** Key and value of a line; the colon may be missing where there are just two words, or the key is one of those. */
function directive(line: string): [key: string, value: string] {
  const hash = line.indexOf('#');
  const text = (hash < 0 ? line : line.slice(0, hash)).trim();
  let at = text.indexOf(':');
  if (at < 0) {
    const known = /^(user[ -]?agent|crawl[ -]?delay|request[ -]?rate)\s+(.+)$/i.exec(text);
    if (known)
      return [known[1]!.toLowerCase().replace(/(?<=user|crawl|request)[ -]?/, '-'), known[2]!];
    at = text.search(/\s/);
    if (at < 0 || /\s/.test(text.slice(at).trim())) return ['', ''];
  }
  const key = text.slice(0, at).trim().toLowerCase();
  // A byte order mark belongs to the beginning of the file; `trim` would take it for a space.
  if (line.startsWith('\uFEFF')) return ['', ''];
  return [spellings[key] ?? key, text.slice(at + 1).trim()];
}

function groupFor(groups: Map<string, Group>, value: string): Group | undefined {
  const token = /^\*(?=\s|$)|^[\p{L}\p{N}_-]+/u.exec(value.toLowerCase())?.[0];
  if (token === undefined) return undefined;
  let group = groups.get(token);
  if (group === undefined) {
    group = { rules: [], crawlDelay: undefined, requestGap: undefined };
    groups.set(token, group);
  }
  return group;
}

function toRules(value: string, allow: boolean): Rule[] {
  const rules = [toRule(normalize(value), allow)];
  // Who may have the index page may have the folder, as Google reads it.
  const folder = allow ? /^(.*\/)index\.html?$/.exec(value)?.[1] : undefined;
  if (folder !== undefined) rules.push(toRule(`${normalize(folder)}$`, true));
  return rules;
}

function toRule(pattern: string, allow: boolean): Rule {
  const anchored = pattern.endsWith('$');
  const body = (anchored ? pattern.slice(0, -1) : pattern).replaceAll('$', '%24');
  // `**` is `*`; without this a row of stars would cost time for nothing.
  return { allow, length: pattern.length, parts: body.replace(/\*+/g, '*').split('*'), anchored };
}

/** The leftmost place for each part is enough, so that nothing is ever tried twice. */
function matches({ parts, anchored }: Rule, path: string): boolean {
  const first = parts[0]!;
  if (!path.startsWith(first)) return false;
  const last = parts.length - 1;
  let at = first.length;
  if (last === 0) return !anchored || at === path.length;
  for (let i = 1; i < last; i++) {
    at = path.indexOf(parts[i]!, at);
    if (at < 0) return false;
    at += parts[i]!.length;
  }
  const end = parts[last]!;
  if (anchored) return path.length - end.length >= at && path.endsWith(end);
  return path.indexOf(end, at) >= 0;
}

/** Path and query of a URL; `/` if there is none. */
function pathOf(url: string): string {
  let start = 0;
  if (url.charCodeAt(0) !== 47 || url.charCodeAt(1) === 47) {
    const scheme = url.indexOf('//');
    start = scheme < 0 ? 0 : url.slice(scheme + 2).search(/[/?#;]/);
    if (start < 0) return '/';
    if (scheme >= 0) start += scheme + 2;
  }
  const hash = url.indexOf('#', start);
  const path = url.slice(start, hash < 0 ? undefined : hash);
  return path.charCodeAt(0) === 47 ? path : `/${path}`;
}

// All that stands in a URL as it is, and `*` and `$`.
const plain = /^[!#-$&-;=?-Z[\]_a-z~]*$/;

/** One spelling for each octet (RFC 9309 §2.2.2): unreserved ones bare, others as they are or as `%XX`. */
function normalize(path: string): string {
  if (plain.test(path)) return path;
  return path
    .replace(/[^!#-;=?-Z[\]_a-z~]+/gu, (text) => encodeURIComponent(text.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (escape) => {
      const char = String.fromCharCode(parseInt(escape.slice(1), 16));
      return /[A-Za-z0-9\-._~]/.test(char) ? char : escape.toUpperCase();
    });
}

/** In a URL `*` and `$` mean themselves; in a rule those are written `%2A` and `%24`. */
function normalizeUrl(path: string): string {
  const text = normalize(path);
  return /[*$]/.test(text) ? text.replaceAll('*', '%2A').replaceAll('$', '%24') : text;
}
