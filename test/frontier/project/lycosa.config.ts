import { defineConfig } from 'lycosa';

export default defineConfig({ settings: { ROBOTSTXT_OBEY: false } });
