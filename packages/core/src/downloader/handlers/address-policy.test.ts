import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { Crawler, createLogger, DownloadCancelledError, Settings, Spider } from '../../index.ts';
import { AddressPolicy } from './address-policy.ts';

interface Named {
  readonly startUrls?: readonly string[];
  readonly allowedDomains?: readonly string[];
  readonly startHosts?: readonly string[];
}

function policyOf(settings: object = {}, named: Named = {}): AddressPolicy {
  class Named2 extends Spider {
    static override readonly name = 'named';
    override readonly startUrls = named.startUrls ?? [];
    override readonly allowedDomains = named.allowedDomains ?? [];
  }
  const own = new Settings();
  for (const [name, value] of Object.entries(settings)) own.set(name as 'ADDRESS_POLICY', value);
  const log = createLogger({ destination: { write: () => {} } });
  const crawler = new Crawler(Named2, own, { log });
  Object.defineProperty(crawler, 'spider', { value: new Named2() });
  for (const host of named.startHosts ?? []) crawler.startHosts.add(host);
  return new AddressPolicy(crawler);
}

const at = (policy: AddressPolicy, host: string, ...addresses: string[]): string[] =>
  policy
    .filter(
      host,
      addresses.map((address) => ({ address })),
    )
    .map(({ address }) => address);

const file = new URL('../../../../../../shared/reference/vectors/ssrf_hosts.json', import.meta.url);
interface Vector {
  readonly host: string;
  readonly answers?: readonly (readonly string[])[];
  readonly blocked: boolean | string;
}
const vectors = existsSync(file)
  ? (JSON.parse(readFileSync(file, 'utf8')) as { cases: Vector[] }).cases
  : [];

/** The addresses that were granted, over all answers of the resolver. */
function granted(policy: AddressPolicy, { host, answers }: Vector): string[] {
  const name = new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, '');
  const isAddress = /^[\d.]+$|:/.test(name);
  const local = /^localhost\.?$/.test(name) ? ['127.0.0.1', '::1'] : ['93.184.215.14'];
  return (answers ?? [isAddress ? [name] : local]).flatMap((answer) => {
    try {
      return at(policy, name, ...answer);
    } catch (error) {
      if (error instanceof DownloadCancelledError) return [];
      throw error;
    }
  });
}

describe.skipIf(vectors.length === 0)('vectors (skipped where they are not there)', () => {
  test.each(['intent', 'public'])('%s: every host of ssrf_hosts.json', (ADDRESS_POLICY) => {
    const wrong: string[] = [];
    for (const vector of vectors) {
      const addresses = granted(policyOf({ ADDRESS_POLICY }), vector);
      const never = /^never (.*)$/.exec(String(vector.blocked))?.[1];
      const isRight = never
        ? !addresses.includes(never)
        : addresses.length > 0 === (vector.blocked === false);
      if (!isRight) wrong.push(vector.host);
    }
    expect(wrong).toEqual([]);
  });
});

test.each([
  ['a start URL', { startUrls: ['http://intern.test:8080/x'] }],
  ['an entry of allowedDomains', { allowedDomains: ['intern.test'] }],
  ['a domain above it', { allowedDomains: ['test'] }],
  ['a request of start()', { startHosts: ['intern.test'] }],
])('a host that is named by %s may be inside', (_, named) => {
  expect(at(policyOf({}, named), 'intern.test', '10.1.2.3')).toEqual(['10.1.2.3']);
  expect(() => at(policyOf({}, named), 'other.example', '10.1.2.3')).toThrow(/ADDRESS_POLICY/);
  expect(() =>
    at(policyOf({ ADDRESS_POLICY: 'public' }, named), 'intern.test', '10.1.2.3'),
  ).toThrow(/ADDRESS_POLICY/);
});

test('a metadata service is out of reach even for a host that is named', () => {
  const named = { startUrls: ['http://169.254.169.254/', 'http://[fd00:ec2::254]/'] };
  for (const address of ['169.254.169.254', 'fd00:ec2::254', '::ffff:169.254.169.254'])
    expect(() => at(policyOf({}, named), address, address)).toThrow(/ADDRESS_POLICY/);
  const any = policyOf({ ADDRESS_POLICY: 'any' });
  expect(at(any, '169.254.169.254', '169.254.169.254')).toHaveLength(1);
});

test('a named host whose public answer turns into one of the inside is refused', () => {
  const policy = policyOf({}, { startUrls: ['http://rebind.example/'] });
  expect(at(policy, 'rebind.example', '93.184.215.14')).toHaveLength(1);
  expect(() => at(policy, 'rebind.example', '127.0.0.1')).toThrow(/ADDRESS_POLICY/);
});

test('of several answers those that are allowed are used', () => {
  expect(at(policyOf(), 'mixed.example', '10.0.0.1', '93.184.215.14')).toEqual(['93.184.215.14']);
});

test('ADDRESS_ALLOW lets networks in, and says what is none', () => {
  const policy = policyOf({ ADDRESS_ALLOW: ['10.0.0.0/8', 'fd00::/8', '192.168.1.1'] });
  expect(at(policy, 'a.example', '10.9.9.9', 'fd12::1', '192.168.1.1')).toHaveLength(3);
  expect(() => at(policy, 'a.example', '192.168.1.2')).toThrow(/ADDRESS_ALLOW/);
  expect(() => policyOf({ ADDRESS_ALLOW: ['intern'] })).toThrow(/ADDRESS_ALLOW/);
});
