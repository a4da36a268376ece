import { Request, type Response, Spider, type SpiderOutput } from 'lycosa';

/** Reads pages of a shop one after another, or goes wrong as its arguments say. */
export class ShopSpider extends Spider<{ page: number }> {
  static override readonly name = 'shop';
  static override readonly customSettings = {
    DOWNLOAD_DELAY: 0.3,
    CONCURRENT_REQUESTS_PER_DOMAIN: 1,
  };

  override async *start(): AsyncGenerator<Request> {
    const { site, logs } = this.args;
    for (const text of JSON.parse(logs ?? '[]') as string[]) this.log.warn(text);
    if (this.args['error'] !== undefined) throw new Error(this.args['error']);
    yield new Request(`${site}/1`);
  }

  override *parse(response: Response): SpiderOutput<{ page: number }> {
    const page = Number(response.url.split('/').at(-1));
    this.log.info(`read page ${page}`);
    yield { page };
    if (page < Number(this.args['pages'] ?? 1))
      yield response.follow(String(page + 1), { callback: this.parse });
  }
}
