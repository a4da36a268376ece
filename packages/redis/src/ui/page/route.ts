import { withQuery } from './net.ts';

/** Which spiders the table shows: all of it is in the address, so that it can be kept and sent to others. */
export interface TableQuery {
  readonly state?: string | undefined;
  readonly search?: string | undefined;
  readonly machine?: string | undefined;
  readonly why?: string | undefined;
  /** A column; with a minus the largest first. */
  readonly sort?: string | undefined;
  /** From 1 on. */
  readonly page?: number | undefined;
}

export type Route =
  | { readonly name: 'fleet'; readonly query: TableQuery }
  | { readonly name: 'spider'; readonly spider: string; readonly attempt: number | undefined };

export function routeOf(hash: string): Route {
  const [path = '', text = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const search = new URLSearchParams(text);
  if (path === 'spider' && search.get('name')) {
    const attempt = Number(search.get('run'));
    return {
      name: 'spider',
      spider: search.get('name')!,
      attempt: attempt > 0 ? attempt : undefined,
    };
  }
  const one = (name: string): string | undefined => search.get(name) ?? undefined;
  return {
    name: 'fleet',
    query: {
      state: one('state'),
      search: one('search'),
      machine: one('machine'),
      why: one('why'),
      sort: one('sort'),
      page: Math.max(1, Math.trunc(Number(one('page') ?? 1)) || 1),
    },
  };
}

export function hrefOf(query: TableQuery): string {
  const { page, ...rest } = query;
  return withQuery('#/', { ...rest, page: page === 1 ? undefined : page });
}

export function spiderHref(name: string, attempt?: number): string {
  return withQuery('#/spider', { name, run: attempt });
}
