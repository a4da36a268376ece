// A user's file: the settings, signals and meta keys of an add-on, declared from outside the package.
import {
  DropItem,
  NotConfigured,
  Request,
  Settings,
  Spider,
  defineConfig,
  type Crawler,
  type ItemPipeline,
  type Response,
  type SettingsInput,
  type SpiderOutput,
} from 'lycosa';

declare module 'lycosa' {
  interface SettingsMap {
    /** 403 responses in a row before the spider is closed; 0 means never. */
    BAN_LIMIT: number;
  }
  interface SignalMap {
    ban_seen: { url: string; streak: number };
  }
  interface RequestMeta {
    shelf?: 'upper' | 'lower';
  }
}

export class BanWatch {
  static fromCrawler(crawler: Crawler): BanWatch {
    const limit: number = crawler.settings.get('BAN_LIMIT');
    if (!limit) throw new NotConfigured();
    return new BanWatch(crawler, limit);
  }

  #streak = 0;

  constructor(crawler: Crawler, limit: number) {
    crawler.signals.connect('response_received', ({ response }) => {
      this.#streak = response.status === 403 ? this.#streak + 1 : 0;
      crawler.signals.send('ban_seen', { url: response.url, streak: this.#streak });
      if (this.#streak === limit) crawler.engine?.closeSpider('banned');
    });
    crawler.signals.connect('ban_seen', ({ url, streak }) => {
      const text: string = url;
      const count: number = streak;
      crawler.log.info(`${text} ${count}`);
    });
    // @ts-expect-error a signal of ours has the fields it was declared with
    crawler.signals.send('ban_seen', { url: 1 });
    // @ts-expect-error nobody declared this signal
    crawler.signals.connect('ban_lifted', () => {});
  }
}

interface Book {
  title: string;
}

export class Shelve implements ItemPipeline<Book> {
  processItem(item: Book, response: Response | null): Book {
    if (!response) throw new DropItem('not from a page');
    return item;
  }
}

export class ShelfSpider extends Spider<Book> {
  static override readonly name = 'shelf';
  override readonly startUrls = ['https://example.com/'];

  override async *parse(response: Response): SpiderOutput<Book> {
    const shelf: 'upper' | 'lower' | undefined = response.meta.shelf;
    yield new Request(response.url, { meta: { shelf: shelf ?? 'upper' } });
    // @ts-expect-error a meta key of ours has the type it was declared with
    yield new Request(response.url, { meta: { shelf: 'middle' } });
    yield { title: response.css('h1::text').get('') };
    // @ts-expect-error the spider says what its items are
    yield { title: 1 };
  }
}

const settings = new Settings({ BAN_LIMIT: 3 });
export const limit: number = settings.get('BAN_LIMIT');
export const delay: number = settings.get('DOWNLOAD_DELAY');
// @ts-expect-error a setting of ours has the type it was declared with
export const wrong: SettingsInput = { BAN_LIMIT: { three: 3 } };

export const config = defineConfig({
  spiders: './spiders',
  settings: {
    BAN_LIMIT: 3,
    EXTENSIONS: [[BanWatch, 500]],
    ITEM_PIPELINES: [[Shelve, 300]],
  },
});
