import { defineConfig } from 'lycosa';

import { CleanBook } from './pipelines.ts';

export default defineConfig({
  spiders: './spiders',
  settings: {
    ROBOTSTXT_OBEY: true,
    LOG_LEVEL: 'INFO',
    ITEM_PIPELINES: [[CleanBook, 300]],

    // As fast as the site answers, and no faster: up to four pages at a time.
    AUTOTHROTTLE_ENABLED: true,
    AUTOTHROTTLE_START_DELAY: 0.1,
    AUTOTHROTTLE_TARGET_CONCURRENCY: 4,
  },
});
