import {
  AddressPolicy,
  policyHost,
} from '../../packages/core/src/downloader/handlers/address-policy.ts';
import { fakeCrawler } from '../fake-crawler.ts';
import { type Judge, same } from './vectors.ts';

export const addressJudges: Readonly<Record<string, Judge>> = {
  // Which of the addresses that a lookup gives may be connected to; the socket is given no other.
  ssrf_hosts({ host, answers, blocked }) {
    const { crawler } = fakeCrawler({ settings: { ADDRESS_POLICY: 'public' } });
    const policy = new AddressPolicy(crawler);
    const name = policyHost(new URL(`http://${host}/`).href);
    const isLiteral = /^[\d.]+$/.test(name) || name.includes(':');
    const given = (answers as string[][] | undefined) ?? [
      isLiteral ? [name] : (localNames[name] ?? ['93.184.215.14']),
    ];
    const reached = given.flatMap((addresses) => {
      try {
        return policy
          .filter(
            name,
            addresses.map((address) => ({ address })),
          )
          .map(({ address }) => address);
      } catch {
        return [];
      }
    });
    if (typeof blocked === 'string' && blocked.startsWith('never '))
      return !reached.includes(blocked.slice(6)) || { got: reached };
    return same(reached.length === 0, blocked !== false);
  },
};

const localNames: Readonly<Record<string, string[]>> = { localhost: ['127.0.0.1', '::1'] };
