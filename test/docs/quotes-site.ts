import type { Answer } from '@lycosa/site';

/** 100 quotes on ten pages, 12 of them with the tag humor, by 20 authors: built as the practice site is. */
export function quotesSite(): Record<string, Answer> {
  const quotes = Array.from({ length: 100 }, (_, index) => ({
    text: `Quote, number ${index + 1}`,
    author: `Author ${(index % 20) + 1}`,
    tags: index < 12 ? ['humor', 'life'] : ['life'],
  }));
  const routes: Record<string, Answer> = {
    '/robots.txt': {
      headers: { 'content-type': 'text/plain' },
      body: 'User-agent: *\nDisallow:\n',
    },
  };
  const list = (path: string, shown: typeof quotes): void => {
    const count = Math.ceil(shown.length / 10);
    for (let number = 1; number <= count; number++) {
      const body = shown.slice((number - 1) * 10, number * 10).map(quoteHtml);
      const next =
        number < count ? `<li class="next"><a href="${path}page/${number + 1}/">Next</a></li>` : '';
      const page = `<!doctype html><title>Quotes</title>${body.join('\n')}<ul class="pager">${next}</ul>`;
      routes[`${path}page/${number}/`] = page;
      if (number === 1) routes[path] = page;
    }
  };
  list('/', quotes);
  list(
    '/tag/humor/',
    quotes.filter(({ tags }) => tags.includes('humor')),
  );
  for (const { author } of quotes) {
    routes[authorPath(author)] =
      `<!doctype html><h3 class="author-title">${author}\n</h3><span class="author-born-date">May 1, 1900</span>`;
  }
  return routes;
}

function authorPath(author: string): string {
  return `/author/${author.replaceAll(' ', '-')}`;
}

function quoteHtml({
  text,
  author,
  tags,
}: {
  text: string;
  author: string;
  tags: string[];
}): string {
  const links = tags.map((tag) => `<a class="tag" href="/tag/${tag}/">${tag}</a>`);
  return `<div class="quote"><span class="text">“${text}”</span>
<span>by <small class="author">${author}</small> <a href="${authorPath(author)}">(about)</a></span>
<div class="tags">Tags: ${links.join(' ')}</div></div>`;
}
