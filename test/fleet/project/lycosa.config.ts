import { defineConfig } from 'lycosa';

export default defineConfig({ settings: { LOG_LEVEL: 'ERROR' } });
