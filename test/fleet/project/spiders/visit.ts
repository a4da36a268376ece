import { Request, type Response, Spider, type SpiderArgs, type SpiderOutput } from 'lycosa';

/** Visits one page of a site that takes its time, and has one item. Or does what spiders should not. */
export class VisitSpider extends Spider<{ n: string }> {
  static override readonly name = 'visit';
  readonly #args: SpiderArgs;

  constructor(args: SpiderArgs = {}) {
    super(args);
    if (args['mode'] === 'broken') throw new Error('cannot be built');
    this.#args = args;
  }

  override async *start(): AsyncGenerator<Request> {
    const { site, n, ms } = this.#args;
    yield new Request(`${String(site)}/run?n=${String(n)}&ms=${String(ms)}`);
  }

  override async *parse(_response: Response): SpiderOutput<{ n: string }> {
    const { mode, n } = this.#args;
    if (mode === 'crash') process.exit(7);
    yield { n: String(n) };
  }
}
