import { defineConfig } from 'lycosa';

export default defineConfig({ settings: { LOG_LEVEL: 'INFO', ROBOTSTXT_OBEY: false } });
