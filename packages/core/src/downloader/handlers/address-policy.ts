import { BlockList, isIP } from 'node:net';

import type { Crawler } from '../../crawler/crawler.ts';
import { DownloadCancelledError, SettingsError } from '../../errors.ts';
import { hostOf } from '../../http/url.ts';

/**
 * Which addresses may be connected to, as ADDRESS_POLICY has it: `intent` grants inside addresses to the hosts that
 * the spider names itself, `public` to none, `any` to all.
 */
export type AddressPolicyName = 'intent' | 'public' | 'any';

/** Hosts whose answers are remembered. */
const maxHosts = 10_000;

/** Decides on each address that a socket is about to connect to. */
export class AddressPolicy {
  readonly #crawler: Crawler;
  readonly #policy: AddressPolicyName;
  readonly #allowed = new BlockList();
  /** Hosts that have had a public address: one of the inside, later on, is an attack. */
  readonly #public = new Set<string>();
  #named: ReadonlySet<string> | undefined;
  #hasWarned = false;

  /** @throws SettingsError for an entry of ADDRESS_ALLOW that is no network. */
  constructor(crawler: Crawler) {
    this.#crawler = crawler;
    this.#policy = crawler.settings.get('ADDRESS_POLICY');
    if (!['intent', 'public', 'any'].includes(this.#policy)) {
      throw new SettingsError(
        `ADDRESS_POLICY must be intent, public or any, got ${JSON.stringify(this.#policy)}.`,
      );
    }
    for (const network of crawler.settings.get('ADDRESS_ALLOW')) addNetwork(this.#allowed, network);
  }

  /** True if no address needs to be looked at. */
  get allowsAll(): boolean {
    return this.#policy === 'any';
  }

  /** Those of the addresses of `host` that may be connected to. @throws DownloadCancelledError if that is none of them. */
  filter<T extends { readonly address: string }>(host: string, addresses: readonly T[]): T[] {
    if (this.allowsAll) return [...addresses];
    const granted = addresses.filter(({ address }) => this.#grants(host, address));
    if (granted.length === 0 && addresses.length > 0) this.#refuse(host, addresses[0]!.address);
    return granted;
  }

  #grants(host: string, address: string): boolean {
    const inner = innerAddress(address);
    const family = familyOf(inner);
    if (this.#allowed.check(inner, family)) return true;
    if (!special.check(inner, family)) {
      if (isIP(host) === 0 && this.#public.size < maxHosts) this.#public.add(host);
      return true;
    }
    return (
      this.#policy === 'intent' &&
      !metadata.check(inner, family) &&
      !this.#public.has(host) &&
      this.#isNamed(host)
    );
  }

  #isNamed(host: string): boolean {
    const { spider, startHosts } = this.#crawler;
    if (this.#named === undefined) {
      const hosts = [...(spider.startUrls ?? [])].map((url) =>
        bare(URL.parse(url)?.hostname ?? ''),
      );
      this.#named = new Set(hosts);
    }
    if (this.#named.has(host) || startHosts.has(host)) return true;
    return (spider.allowedDomains ?? []).some((domain) => {
      const name = bare(domain.toLowerCase());
      return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
    });
  }

  #refuse(host: string, address: string): never {
    const { stats, log } = this.#crawler;
    stats.inc('security/blocked/ADDRESS_POLICY');
    const where = host === address ? host : `${host} is at ${address}, which`;
    const message = `${where} is not a public address, and not connected to (ADDRESS_POLICY is ${this.#policy}). Name the host in startUrls or allowedDomains, or the network in ADDRESS_ALLOW.`;
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      log.warn(message);
    }
    throw new DownloadCancelledError(message);
  }
}

/** Host of a request as a policy knows it: an IPv6 address without its brackets. */
export function policyHost(url: string): string {
  return bare(hostOf(url));
}

function bare(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

/** Addresses with a meaning of their own: no public site is there. The registries of IANA, RFC 6890. */
const special = networks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/9',
  'ff00::/8',
]);

/** Where clouds hand out the keys of a machine. */
const metadata = networks([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
]);

function networks(list: readonly string[]): BlockList {
  const found = new BlockList();
  for (const network of list) addNetwork(found, network);
  return found;
}

function addNetwork(list: BlockList, network: string): void {
  const [address = '', bits] = network.split('/');
  const family = familyOf(address);
  try {
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  } catch (cause) {
    throw new SettingsError(
      `ADDRESS_ALLOW takes addresses and networks such as 10.0.0.0/8 and fd00::/8, got ${JSON.stringify(network)}.`,
      { cause },
    );
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** The IPv4 address that an IPv6 address stands for: mapped, NAT64 or 6to4. */
function innerAddress(address: string): string {
  if (!address.includes(':')) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const isNat64 =
    groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  if (isMapped || isNat64) return ipv4(groups[6]!, groups[7]!);
  if (groups[0] === 0x2002) return ipv4(groups[1]!, groups[2]!);
  return address;
}

function ipv4(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  // URL writes all spellings in one way; a zone does not belong to the address.
  const text = bare(new URL(`http://[${address.replace(/%.*/s, '')}]/`).hostname);
  const [head = '', tail] = text.split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16));
  if (tail === undefined) return read(head);
  const [before, after] = [read(head), read(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
