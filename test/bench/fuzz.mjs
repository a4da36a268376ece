// Malformed responses, and the memory they cost: node --expose-gc --conditions=lycosa-source test/bench/fuzz.mjs [COUNT]
// [SEED]
import { fuzz } from './fuzz.ts';

const count = Number(process.argv[2] ?? 10_000);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const before = process.memoryUsage().rss;
const mib = (bytes) => (bytes / 1_048_576).toFixed(1).padStart(8);
const print = (done) => {
  const { rss } = process.memoryUsage();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  console.log(`${String(done).padStart(6)} ${mib(rss)} ${mib(heapUsed)} ${mib(external)}`);
};
console.log(`seed ${seed}\n  done   rssMiB  heapMiB external`);
print(0);
const result = await fuzz(count, seed, print);
const { rss } = process.memoryUsage();
console.log({
  ...result,
  strange: result.strange.slice(0, 10),
  rssGrowthMiB: Math.round((rss - before) / 1_048_576),
});
const { openSockets, heldPlaces, rejections, account, strange } = result;
process.exitCode =
  openSockets === 0 && heldPlaces === 0 && rejections === 0 && account && strange.length === 0
    ? 0
    : 1;
