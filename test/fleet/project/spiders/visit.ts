import { Request, type Response, Spider, type SpiderArgs, type SpiderOutput } from 'lycosa';

/** Visits one page of a site that takes its time, or so many, and has an item of each. Or does what spiders should not. */
export class VisitSpider extends Spider<{ n: string }> {
  static override readonly name = 'visit';
  readonly #args: SpiderArgs;

  constructor(args: SpiderArgs = {}) {
    super(args);
    if (args['mode'] === 'broken') throw new Error('cannot be built');
    this.#args = args;
  }

  override async *start(): AsyncGenerator<Request> {
    const { site, n, ms, pages } = this.#args;
    const url = `${String(site)}/run?n=${String(n)}&ms=${String(ms)}`;
    yield new Request(url);
    for (let page = 2; page <= Number(pages ?? 1); page++) yield new Request(`${url}&page=${page}`);
  }

  override async *parse(_response: Response): SpiderOutput<{ n: string }> {
    const { mode, n } = this.#args;
    if (mode === 'crash') process.exit(7);
    yield { n: String(n) };
  }
}
