import { defineConfig } from 'lycosa';

import { DropEmptyItems } from './pipelines.ts';

export default defineConfig({
  spiders: './spiders',
  settings: {
    // Say who you are: the owner of a site may want to ask you something.
    // USER_AGENT: '$name (+https://example.com/)',

    ROBOTSTXT_OBEY: true,
    // As fast as the site answers easily, and no faster.
    AUTOTHROTTLE_ENABLED: true,

    // What items go through before they are written, low numbers first.
    ITEM_PIPELINES: [[DropEmptyItems, 300]],
  },
});
