import { Request, Spider, type Response, type SpiderOutput } from 'lycosa';

import type { ScrapedBook } from '../pipelines.ts';

/** Every book of the bookshop: `lycosa crawl books -a url=http://127.0.0.1:8000`. */
export class BooksSpider extends Spider<ScrapedBook> {
  static override readonly name = 'books';

  override async *start(): SpiderOutput<ScrapedBook> {
    yield new Request(this.args.url ?? 'http://127.0.0.1:8000');
  }

  /** The home page: into the catalogue, and to what else the shop points out. */
  override async *parse(response: Response): SpiderOutput<ScrapedBook> {
    yield* response.followAll({ css: 'a[href*="page-1.html"]' }, { callback: this.parseCatalogue });
    yield* response.followAll({ css: '.notes a' }, { callback: this.parseBook });
  }

  async *parseCatalogue(response: Response): SpiderOutput<ScrapedBook> {
    yield* response.followAll({ css: '.books h3 a' }, { callback: this.parseBook });
    yield* response.followAll({ css: 'a[rel=next]' }, { callback: this.parseCatalogue });
  }

  async *parseBook(response: Response): SpiderOutput<ScrapedBook> {
    const book = response.css('article.book');
    if (book.length === 0) return; // a note of the home page that leads to no book
    yield {
      url: response.url,
      title: book.css('h1::text').get(''),
      author: book.css('.author::text').reFirst(/by (.+)/) ?? '',
      category: response.css('.breadcrumb li:last-child a::text').get(''),
      price: book.css('.price::text').get(''),
      rating: book.css('.stars::attr(data-rating)').get(''),
      stock: book.css('.stock::text').reFirst(/\d+/) ?? '0',
      upc: book.css('.upc::text').get(''),
      description: book.css('.description::text').get(''),
    };
  }
}
