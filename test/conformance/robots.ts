import { RobotsTxt } from '../../packages/core/src/downloader/robots-parser.ts';
import { bytesOf, type Data, textOf } from './vectors.ts';

/** One question to one document. */
export interface Answer {
  readonly question: string;
  readonly verdict: boolean | 'not built';
  /** True where the file itself says that one may differ. */
  readonly mayDiffer?: boolean;
}

type RobotsJudge = (document: Data) => Answer[];

/** Files with many questions to one document; each question counts as a case. */
export const robotsJudges: Readonly<Record<string, RobotsJudge>> = {
  robots_google({ robots, expect }) {
    const file = read(robots);
    return (expect as Data[]).map((one) => ({
      question: `${textOf(one.user_agent)} ${textOf(one.url)}`,
      verdict: file.isAllowed(textOf(one.url), textOf(one.user_agent)) === one.allowed,
      mayDiffer: one.google_only === true,
    }));
  },

  robots_protego({ robots, expect }) {
    const file = read(robots);
    return (expect as Data[]).map((one) => ({
      question: `${String(one.fn)} ${textOf(one.user_agent ?? '')} ${textOf(one.url ?? '')}`,
      verdict: judgeProtego(file, one),
    }));
  },

  robots_corpus({ host, robots, can_fetch: canFetch, crawl_delay: delays, sitemaps }) {
    const start = performance.now();
    const file = read(robots);
    const answers: Answer[] = [];
    for (const [path, digits] of Object.entries<string>(canFetch)) {
      for (const [at, agent] of agents.entries()) {
        const got = file.isAllowed(`https://${host}${path}`, agent) ? '1' : '0';
        const verdict = got === digits[at];
        // Protego's answers are a peer's: where the RFC's own words say what we say, we may differ.
        const mayDiffer =
          !verdict && (allowsByRfc(textOf(robots), agent, path) ? '1' : '0') === got;
        answers.push({ question: `${agent} ${path}`, verdict, mayDiffer });
      }
    }
    const tookMs = performance.now() - start;
    for (const [at, agent] of agents.entries()) {
      const verdict = (file.crawlDelay(agent) ?? null) === delays[at];
      answers.push({ question: `delay of ${agent}`, verdict });
    }
    answers.push({ question: 'sitemaps', verdict: file.sitemaps.length === sitemaps });
    // A whole document of many questions; one alone has 20 ms.
    answers.push({ question: 'time', verdict: tookMs < 20 * Object.keys(canFetch).length + 20 });
    return answers;
  },
};

const agents = ['*', 'mybot', 'Googlebot', 'bingbot'];

function read(robots: Data): RobotsTxt {
  return new RobotsTxt(typeof robots === 'string' ? robots : bytesOf(robots));
}

function judgeProtego(file: RobotsTxt, one: Data): boolean | 'not built' {
  const agent = textOf(one.user_agent ?? '');
  switch (one.fn) {
    case 'can_fetch':
      return file.isAllowed(textOf(one.url), agent) === one.returns;
    case 'crawl_delay':
      return (file.crawlDelay(agent) ?? null) === one.returns;
    default:
      return 'not built';
  }
}

/** RFC 9309 §2.2 read word for word, with no thought for speed: the judge of differences. */
function allowsByRfc(robots: string, agent: string, path: string): boolean {
  if (path === '/robots.txt') return true;
  const rules = new Map<string, [pattern: string, isAllow: boolean][]>();
  let agents: string[] = [];
  let wasAgent = false;
  for (const line of robots.split(/\r\n|\r|\n/)) {
    const [, name = '', text = ''] = /^\s*([\w-]+)\s*:\s*([^#]*)/.exec(line) ?? [];
    const [key, value] = [name.toLowerCase(), text.trim()];
    if (key === 'user-agent') {
      agents = wasAgent ? [...agents, value.toLowerCase()] : [value.toLowerCase()];
      wasAgent = true;
      for (const one of agents) if (!rules.has(one)) rules.set(one, []);
    } else if (key === 'allow' || key === 'disallow') {
      wasAgent = false;
      if (value) for (const one of agents) rules.get(one)!.push([value, key === 'allow']);
    }
  }
  const group = rules.get(agent.toLowerCase()) ?? rules.get('*') ?? [];
  const matching = group.filter(([pattern]) => patternOf(pattern).test(path));
  matching.sort(([a, isA], [b, isB]) => b.length - a.length || Number(isB) - Number(isA));
  return matching[0]?.[1] ?? true;
}

function patternOf(pattern: string): RegExp {
  const isEnd = pattern.endsWith('$');
  const text = (isEnd ? pattern.slice(0, -1) : pattern).replace(/[\\^$.+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`^${text.replaceAll(/\*+/g, '[^]*')}${isEnd ? '$' : ''}`);
}
