import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';

import { Request, Response } from 'lycosa';

import { FilesystemCacheStorage } from '../../packages/core/src/downloader/http-cache/filesystem-storage.ts';
import { RfcPolicy } from '../../packages/core/src/downloader/http-cache/rfc-policy.ts';
import { HttpCacheMiddleware } from '../../packages/core/src/downloader/middlewares/http-cache.ts';
import { expandFeedUri } from '../../packages/core/src/feeds/uri.ts';
import { createProject } from '../../templates/index.js';
import { fakeCrawler } from '../fake-crawler.ts';
import type { Data, Judge, Verdict } from './vectors.ts';

export const pathJudges: Readonly<Record<string, Judge>> = {
  paths(one) {
    switch (one.kind) {
      case 'spider_name_in_feed_uri':
        return judgeFeedUri(one);
      case 'media_url':
        return judgeCachedUrl(one.value);
      case 'project_or_job_id':
        return judgeProjectName(one);
      default:
        return 'not built';
    }
  },
};

function judgeFeedUri({ value, template }: Data): Verdict {
  const expand = (name: string): string =>
    expandFeedUri(template, (parameter) => (parameter === 'name' ? name : 'now'));
  const got = expand(value);
  const isRight =
    got.split('/').length === String(template).split('/').length &&
    isInside(got) &&
    got !== expand(`${value}_`);
  return isRight || { got };
}

/** The files that a URL names are those of the HTTP cache. */
async function judgeCachedUrl(url: string): Promise<Verdict> {
  return inFolder(async (folder) => {
    const root = join(folder, 'cache');
    const { crawler } = fakeCrawler();
    const storage = new FilesystemCacheStorage(root);
    const cache = new HttpCacheMiddleware(crawler, new RfcPolicy(crawler.settings), storage);
    for (const one of [url, `${url}_`]) {
      const request = new Request(one);
      const headers = { date: new Date().toUTCString(), 'cache-control': 'max-age=60' };
      await cache.processRequest(request);
      await cache.processResponse(request, new Response(request.url, { headers, request }));
    }
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(root, realpathSync(join(parentPath, name))));
    return (files.length === 2 && files.every(isInside)) || { got: files };
  });
}

/** What a project's folder and its keys are called by. */
async function judgeProjectName({ value, reject }: Data): Promise<Verdict> {
  return inFolder((folder) => {
    const root = join(folder, 'root');
    try {
      createProject(value, join(root, 'project'));
    } catch (error) {
      return (reject === true && !existsSync(root)) || { got: error };
    }
    return reject !== true || { got: 'accepted' };
  });
}

function isInside(path: string): boolean {
  const parts = path.split(sep);
  return (
    !/\p{Cc}/u.test(path) &&
    parts.every((part) => part !== '..' && part !== '.' && Buffer.byteLength(part) <= 255)
  );
}

async function inFolder(judge: (folder: string) => Verdict | Promise<Verdict>): Promise<Verdict> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lycosa-')));
  try {
    return await judge(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
