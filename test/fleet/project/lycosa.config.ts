import { SpiderCountLimit } from '@lycosa/redis';
import { defineConfig } from 'lycosa';

const feed = process.env['VISIT_FEED'];

export default defineConfig({
  settings: {
    LOG_LEVEL: 'ERROR',
    EXTENSIONS: [[SpiderCountLimit, 500]],
    ...(feed !== undefined && { FEEDS: { [feed]: { overwrite: true } } }),
  },
});
