#!/usr/bin/env node
/** `crawl quotes` is short for `lycosa crawl quotes`. */
import { start } from './start.ts';

await start(['crawl', ...process.argv.slice(2)]);
