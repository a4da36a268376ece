import { appendFileSync, existsSync } from 'node:fs';

import { type Crawler, type Request, Spider, type SpiderArgs } from 'lycosa';

function fillMemory(): never {
  const all: number[][] = [];
  for (;;) all.push(Array.from({ length: 100_000 }, Math.random));
}

/** Sleeps instead of crawling, and writes when it began and ended where `LOG` says. */
export class NapSpider extends Spider {
  static override readonly name = 'nap';
  readonly #args: SpiderArgs;
  readonly #log = process.env['NAP_LOG'];

  constructor(args: SpiderArgs = {}) {
    super(args);
    if (args['mode'] === 'broken') throw new Error('cannot be built');
    this.#args = args;
  }

  override async *start(): AsyncGenerator<Request> {
    this.#write('begin');
    if (this.#args['mode'] === 'crash') process.exit(7);
    while (this.#args['mode'] === 'block') Math.random();
    if (this.#args['mode'] === 'memory') fillMemory();
    const end = Date.now() + Number(this.#args['ms'] ?? 100);
    const { crawler } = this as unknown as { crawler: Crawler };
    crawler.log.error(`nap ${String(this.#args['n'])} sleeps`);
    const mustWait = (): boolean =>
      this.#args['gate'] ? !existsSync(`${this.#log}.go`) : Date.now() < end;
    while (mustWait() && !crawler.engine?.isClosing) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.#write(crawler.engine?.isClosing ? 'stop' : 'end');
    yield* [];
  }

  #write(what: string): void {
    if (this.#log)
      appendFileSync(this.#log, `${what} ${this.#args['n'] ?? ''} ${process.pid} ${Date.now()}\n`);
  }
}
