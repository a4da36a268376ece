import { type Response, Spider, type SpiderOutput } from 'lycosa';

/** One page, for what a start takes: `lycosa runspider test/bench/one-page.ts -a url=…`. */
export class OnePageSpider extends Spider {
  static override readonly name = 'one-page';
  override readonly startUrls = [String(this.args['url'])];

  override *parse(response: Response): SpiderOutput {
    yield { text: response.css('body::text').get() };
  }
}
