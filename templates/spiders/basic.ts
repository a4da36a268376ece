import { type Response, Spider, type SpiderOutput } from 'lycosa';

/** What the spider finds. Add a field for each thing you want to keep. */
interface Page {
  url: string;
  title: string;
}

export class $classname extends Spider<Page> {
  static override readonly name = '$name';
  override readonly allowedDomains = ['$domain'];
  override readonly startUrls = ['$url'];

  override async *parse(response: Response): SpiderOutput<Page> {
    yield { url: response.url, title: response.css('title::text').get('').trim() };

    // Follow links like this:
    // yield* response.followAll({ css: 'a.next' }, { callback: this.parse });
  }
}
