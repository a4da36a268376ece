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
import { redirectJudges } from './redirects.ts';
import { judgeResponses } from './responses.ts';
import { robotsJudges } from './robots.ts';
import { judgeFingerprints, urlJudges } from './urls.ts';
import type { Data, Judge, Verdict } from './vectors.ts';

/** What came of a file. Passed, excepted, failed and not built make up the cases. */
export interface Row {
  readonly file: string;
  cases: number;
  passed: number;
  excepted: number;
  /** Those of them that are in our list; the file itself lets one differ in the others. */
  listed: number;
  failed: number;
  /** Cases that ask for something we do not have. */
  notBuilt: number;
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
};

/** Files whose cases are judged together. */
const wholeFiles: Readonly<
  Record<string, (cases: readonly Data[]) => Verdict[] | Promise<Verdict[]>>
> = { fingerprint: judgeFingerprints, http_responses_llhttp: judgeResponses };

/** Share of a file that may be excepted; one case of a small file. */
const mostExcepted = 0.02;

/** Judges every vector file of a folder. */
export async function runConformance(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of readdirSync(folder)
    .filter((one) => one.endsWith('.json'))
    .toSorted()) {
    const { cases } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { cases: Data[] };
    rows.push(await judgeFile(basename(name, '.json'), cases));
  }
  return rows;
}

/** True if there are vectors in `folder`. */
export function hasVectors(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.json'));
}

async function judgeFile(file: string, cases: readonly Data[]): Promise<Row> {
  const row: Row = {
    file,
    cases: 0,
    passed: 0,
    excepted: 0,
    listed: 0,
    failed: 0,
    notBuilt: 0,
    failures: [],
  };
  const whole = await wholeFiles[file]?.(cases);
  for (const [at, one] of cases.entries()) {
    if (robotsJudges[file] !== undefined) {
      for (const { question, verdict, mayDiffer } of robotsJudges[file](one))
        count(row, one.id, verdict || { got: question }, mayDiffer);
    } else count(row, one.id, whole?.[at] ?? (await judgeOne(judges[file], one)));
  }
  const most = strict.test(file) ? 0 : Math.max(1, Math.floor(row.cases * mostExcepted));
  if (row.listed > most) {
    row.failed += row.excepted;
    row.failures.push(`${row.listed} excepted cases are more than the ${most} that may be`);
    row.excepted = 0;
  }
  return row;
}

async function judgeOne(judge: Judge | undefined, one: Data): Promise<Verdict> {
  if (judge === undefined) return 'not built';
  try {
    return await judge(one);
  } catch (error) {
    return { got: error };
  }
}

function count(row: Row, id: string, verdict: Verdict, mayDiffer = false): void {
  row.cases++;
  if (verdict === 'not built') row.notBuilt++;
  else if (verdict === true) row.passed++;
  else if (mayDiffer || verdict === 'may differ') row.excepted++;
  else if (!strict.test(row.file) && Object.hasOwn(exceptions, id)) {
    row.excepted++;
    row.listed++;
  } else {
    row.failed++;
    row.failures.push(`${id} ${shown(verdict)}`);
  }
}

function shown(verdict: Verdict): string {
  if (typeof verdict !== 'object') return '';
  const { got } = verdict;
  return `got ${got instanceof Error ? String(got) : JSON.stringify(got)}`.slice(0, 400);
}
