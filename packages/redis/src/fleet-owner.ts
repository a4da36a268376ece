import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { LycosaError } from 'lycosa';

const fileName = 'fleet.owner';

/**
 * Makes the folder of a job that of the run with this token. Storage that machines share may show it to one that was
 * away: a run that is older than the last owner is refused.
 *
 * @internal
 * @throws LycosaError (`ERR_LEASE_LOST`) where a later run has the folder.
 */
export async function ownFolder(folder: string, token: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, fileName);
  const text = await readFile(path, 'utf8').catch(() => '0');
  if (Number(text) > token) {
    throw new LycosaError(
      'ERR_LEASE_LOST',
      `The job in ${folder} belongs to a later run (${text.trim()}) than this one (${token}). Nothing is to be done: the later run goes on with it.`,
    );
  }
  // Whole, or not at all.
  const own = `${path}.${token}.${process.pid}`;
  await writeFile(own, `${token}\n`);
  await rename(own, path);
}
