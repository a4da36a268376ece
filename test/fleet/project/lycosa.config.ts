import { SpiderCountLimit } from '@lycosa/redis';
import { defineConfig } from 'lycosa';

export default defineConfig({
  settings: { LOG_LEVEL: 'ERROR', EXTENSIONS: [[SpiderCountLimit, 500]] },
});
