import { type Response, Spider, type SpiderOutput } from 'lycosa';

/** Follows all links of the page that it is given. */
export class StarSpider extends Spider {
  static override readonly name = 'star';
  static readonly args: readonly string[] = ['url'];
  override readonly startUrls: readonly string[] = [this.args['url'] ?? ''];

  override *parse(response: Response): SpiderOutput {
    yield { url: response.url };
    yield* response.followAll('a');
  }
}
