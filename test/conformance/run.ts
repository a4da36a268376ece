import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { addressJudges } from './addresses.ts';
import { cacheJudges } from './cache.ts';
import { cookieJudges } from './cookies.ts';
import { encodingJudges } from './encodings.ts';
import { exceptions, strict } from './exceptions.ts';
import { formJudges } from './forms.ts';
import { outputJudges } from './output.ts';
import { pageJudges } from './pages.ts';
import { pathJudges } from './paths.ts';
import { redirectJudges } from './redirects.ts';
import { judgeResponses } from './responses.ts';
import { robotsJudges } from './robots.ts';
import { sitemapJudges } from './sitemaps.ts';
import { judgeFingerprints, urlJudges } from './urls.ts';
import type { Data, Judge, Verdict } from './vectors.ts';

/** What came of a file. Passed, excepted, failed and not built make up the cases. */
export interface Row {
  readonly file: string;
  cases: number;
  passed: number;
  excepted: number;
  /** Those of them that we disagree with; in the others the file itself lets one differ. */
  disagreed: number;
  failed: number;
  /** Cases that ask for something we do not have. */
  notBuilt: number;
  /** Cases by why they are excepted. */
  readonly reasons: Map<string, string[]>;
  readonly failures: string[];
}

const judges: Readonly<Record<string, Judge>> = {
  ...urlJudges,
  ...encodingJudges,
  ...pageJudges,
  ...redirectJudges,
  ...cookieJudges,
  ...outputJudges,
  ...formJudges,
  ...addressJudges,
  ...cacheJudges,
  ...sitemapJudges,
  ...pathJudges,
};

/** Files whose cases are judged together. */
const wholeFiles: Readonly<
  Record<string, (cases: readonly Data[]) => Verdict[] | Promise<Verdict[]>>
> = { fingerprint: judgeFingerprints, http_responses_llhttp: judgeResponses };

/** Share of a file that we may disagree with; one case of a small file. */
const mostDisagreed = 0.02;

/** Judges every vector file of a folder. What cannot be read or is not known is a failure, and the others go on. */
export async function runConformance(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of vectorFiles(folder)) {
    const row: Row = {
      file: basename(name, '.json'),
      cases: 0,
      passed: 0,
      excepted: 0,
      disagreed: 0,
      failed: 0,
      notBuilt: 0,
      reasons: new Map(),
      failures: [],
    };
    rows.push(row);
    try {
      await judgeFile(row, readCases(join(folder, name)));
    } catch (error) {
      fail(row, `${name} cannot be judged: ${String(error)}`);
    }
  }
  return rows;
}

/** The vector files of a folder, sorted. */
export function vectorFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted();
}

function readCases(path: string): Data[] {
  const { cases, count } = JSON.parse(readFileSync(path, 'utf8')) as Data;
  if (!Array.isArray(cases)) throw new Error('it has no list of cases');
  if (count !== undefined && count !== cases.length)
    throw new Error(`it says ${count} cases and has ${cases.length}`);
  return cases as Data[];
}

async function judgeFile(row: Row, cases: readonly Data[]): Promise<void> {
  const { file } = row;
  const judgeQuestions = robotsJudges[file];
  const judge = judges[file];
  const judgeWhole = wholeFiles[file];
  if (!judgeQuestions && !judge && !judgeWhole) {
    for (const one of cases) count(row, one, { got: 'nothing: no judge knows this file' });
    return;
  }
  const whole = await judgeWhole?.(cases);
  for (const [at, one] of cases.entries()) {
    try {
      if (judgeQuestions) for (const verdict of judgeQuestions(one)) count(row, one, verdict);
      else count(row, one, whole?.[at] ?? (await judge!(one)));
    } catch (error) {
      count(row, one, { got: error });
    }
  }
  const most = strict.test(file) ? 0 : Math.max(1, Math.floor(row.cases * mostDisagreed));
  if (row.disagreed > most)
    fail(row, `we disagree with ${row.disagreed} cases, and may with ${most}`);
}

function count(row: Row, one: Data, verdict: Verdict): void {
  const id = String(one?.id ?? 'a case without id');
  row.cases++;
  if (verdict === true) row.passed++;
  else if (verdict === 'not built') {
    row.notBuilt++;
    row.failures.push(`${id} asks for ${String(one?.fn ?? one?.kind)}, which is not built`);
  } else if (typeof verdict === 'object' && 'differs' in verdict) {
    row.excepted++;
    if (!verdict.isFree) row.disagreed++;
    addReason(row, verdict.differs, id);
  } else if (Object.hasOwn(exceptions, id)) {
    row.excepted++;
    row.disagreed++;
    addReason(row, exceptions[id]!, id);
  } else {
    row.failed++;
    row.failures.push(`${id} ${shown(verdict)}`);
  }
}

function addReason({ reasons }: Row, reason: string, id: string): void {
  reasons.set(reason, [...(reasons.get(reason) ?? []), id]);
}

/** Of the file as a whole: what is wrong with it is one case more. */
function fail(row: Row, what: string): void {
  row.cases++;
  row.failed++;
  row.failures.push(what);
}

function shown(verdict: Verdict): string {
  if (typeof verdict !== 'object' || !('got' in verdict)) return '';
  const { got } = verdict;
  return `got ${got instanceof Error ? String(got) : JSON.stringify(got)}`.slice(0, 400);
}
