import type { Link } from './frontier-entry.ts';
import type { Lease } from './frontier-leases.ts';
import type { FrontierWorker } from './frontier-worker.ts';

/** Links in one script. */
const maxLinks = 2000;
/** Milliseconds that a host rests at most when nobody knows for how long it should. */
const maxRestMs = 60_000;

/** Ends leases: requests that are done, with what they have led to, and requests that are given back. */
export class Acks {
  readonly #worker: FrontierWorker;
  readonly #onChange: () => void;
  /** Done, and not told yet. */
  #done: Lease[] = [];
  #flushing: Promise<void> | undefined;
  readonly #sending = new Set<Promise<void>>();

  /** @param onChange - The frontier has heard of it. */
  constructor(worker: FrontierWorker, onChange: () => void) {
    this.#worker = worker;
    this.#onChange = onChange;
  }

  done(lease: Lease): void {
    this.#worker.leases.settle(lease);
    this.#done.push(lease);
    this.#flushing ??= this.#flush();
  }

  /** @param pauseMs - How long their hosts rest. */
  giveBack(leases: readonly Lease[], pauseMs = 0): void {
    for (const lease of leases) this.#worker.leases.end(lease);
    const tokens = leases.map(({ token }) => token);
    this.#send(this.#worker.frontier.nack(tokens, Math.min(pauseMs, maxRestMs)));
  }

  /** Tells the others at once what the end of a page would tell them later. */
  hostChanged(host: string): void {
    const { frontier, hosts } = this.#worker;
    const { pauseMs, delayMs } = hosts.report(host);
    this.#send(pauseMs > 0 ? frontier.block(host, pauseMs) : frontier.setDelay(host, delayMs));
  }

  /** The lease has ended: another worker has it, and finds the links of its page as well. */
  lost(lease: Lease): void {
    const { leases, account, host } = this.#worker;
    leases.end(lease);
    account.handedOver(lease.links.length);
    account.lost();
    host.log.debug(`The lease of ${lease.request.toString()} had ended; another worker makes it`);
  }

  /** Resolves when all that was told is known. */
  async settled(): Promise<void> {
    await this.#flushing;
    await Promise.all(this.#sending);
  }

  /** What requests have yielded is in the feeds before anybody hears that they are done. */
  async #flush(): Promise<void> {
    while (this.#done.length > 0) {
      const done = this.#done;
      this.#done = [];
      try {
        if (!(await this.#worker.host.flushFeeds()))
          throw new Error('A feed has failed: the pages that its items come from are not done.');
        for (const lease of done) this.#send(this.#ack(lease));
      } catch (thrown) {
        this.#worker.fail(thrown);
      }
    }
    this.#flushing = undefined;
  }

  async #ack(lease: Lease): Promise<void> {
    const { frontier, hosts, leases } = this.#worker;
    const { token, host, links } = lease;
    // So many that they would hold Redis up go before the rest; what is added twice is a duplicate.
    while (links.length > maxLinks) {
      const some = links.splice(0, maxLinks);
      this.#added(some, await frontier.add(argsOf(some)));
    }
    const known = await frontier.ack(token, hosts.report(host), argsOf(links));
    if (known === undefined) return this.lost(lease);
    leases.end(lease);
    this.#added(links, known);
  }

  #added(links: readonly Link[], duplicates: readonly number[]): void {
    const { account, host, known } = this.#worker;
    for (const { request } of links) known.add(request);
    for (const place of duplicates) {
      host.stats.inc('dupefilter/filtered');
      host.dropped(links[place]!.request, 'duplicate');
    }
    account.accepted(links.length - duplicates.length);
  }

  #send(command: Promise<void>): void {
    const sending = command
      .then(this.#onChange, (thrown: unknown) => this.#worker.fail(thrown))
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }
}

function argsOf(links: readonly Link[]): (string | Buffer)[] {
  return links.flatMap(({ args }) => args);
}
