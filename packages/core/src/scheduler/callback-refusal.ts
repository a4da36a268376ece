import type { Request } from '../http/request.ts';
import { Spider } from '../spider/spider.ts';

/**
 * Why a request that was read from a queue must not be made; undefined if it may. Nothing but a method that the spider
 * itself has is ever called by name.
 */
export function callbackRefusal(
  spider: Spider,
  { callback, errback }: Request,
): string | undefined {
  for (const name of [callback, errback]) {
    if (typeof name === 'string' && !isCallback(spider, name))
      return `Spider ${spider.name} has no method ${JSON.stringify(name.slice(0, 100))}.`;
  }
  return undefined;
}

function isCallback(spider: Spider, name: string): boolean {
  if (name in Object.prototype || (name !== 'parse' && Object.hasOwn(Spider.prototype, name)))
    return false;
  return typeof (spider as unknown as Record<string, unknown>)[name] === 'function';
}
