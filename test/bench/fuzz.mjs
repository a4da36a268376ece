// Malformed responses: node --conditions=lycosa-source test/bench/fuzz.mjs [COUNT] [SEED]
import { fuzz } from './fuzz.ts';

const count = Number(process.argv[2] ?? 10_000);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);
const result = await fuzz(count, seed);
const { rss } = process.memoryUsage();
console.log({
  ...result,
  strange: result.strange.slice(0, 10),
  rssMiB: Math.round(rss / 1_048_576),
});
const { openSockets, heldPlaces, rejections, account, strange } = result;
process.exitCode =
  openSockets === 0 && heldPlaces === 0 && rejections === 0 && account && strange.length === 0
    ? 0
    : 1;
