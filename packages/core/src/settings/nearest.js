/** The candidate most like `name`, or undefined if none is close: what a typing mistake was meant to be. */
export function nearest(name, candidates) {
  const wanted = name.toLowerCase();
  let best;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const steps = distance(wanted, candidate.toLowerCase(), least);
    if (steps < least) {
      least = steps;
      best = candidate;
    }
  }
  return best;
}
/** Steps of typing from `a` to `b`: insert, delete, replace, swap neighbours. At least `limit` if there are that many. */
function distance(a, b, limit) {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const older = previous;
    previous = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let steps = Math.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        steps = Math.min(steps, older[j - 2] + 1);
      row.push(steps);
    }
  }
  return row[b.length];
}
//# sourceMappingURL=nearest.js.map
