/** Series over a logarithmic axis as an SVG that reads on light and dark pages. */
const width = 360;
const height = 240;
const left = 56;
const right = 16;
const top = 40;
const bottom = 46;
const colours = ['#2f6fb0', '#c0561f'];

const short = (n) =>
  n >= 1e6
    ? `${Number((n / 1e6).toPrecision(2))} M`
    : n >= 1e4
      ? `${Number((n / 1e3).toPrecision(3))} k`
      : String(Number(n.toPrecision(3)));

/** A round number not below `n`. */
function ceiling(n) {
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= n) * power;
}

/** One chart: `lines` are `{name, points: [[x, y], …]}`. */
function panel({ title, xLabel, lines }, offset) {
  const xs = lines.flatMap(({ points }) => points.map(([x]) => x));
  const ys = lines.flatMap(({ points }) => points.map(([, y]) => y));
  const low = Math.log10(Math.min(...xs));
  const high = Math.max(Math.log10(Math.max(...xs)), low + 1);
  const most = ceiling(Math.max(...ys));
  const x = (value) =>
    offset + left + ((Math.log10(value) - low) / (high - low)) * (width - left - right);
  const y = (value) => top + (1 - value / most) * (height - top - bottom);
  const out = [`<text class="title" x="${offset + left}" y="18">${title}</text>`];
  for (let step = 0; step <= 4; step++) {
    const value = (most * step) / 4;
    const at = y(value).toFixed(1);
    out.push(
      `<path class="grid" d="M${offset + left} ${at}H${offset + width - right}"/>`,
      `<text x="${offset + left - 6}" y="${Number(at) + 4}" text-anchor="end">${short(value)}</text>`,
    );
  }
  for (let power = Math.ceil(low); power <= high + 1e-9; power++) {
    out.push(
      `<text x="${x(10 ** power).toFixed(1)}" y="${height - bottom + 16}" text-anchor="middle">${short(10 ** power)}</text>`,
    );
  }
  out.push(
    `<text x="${offset + (left + width - right) / 2}" y="${height - 8}" text-anchor="middle">${xLabel}</text>`,
  );
  for (const [i, { name, points }] of lines.entries()) {
    const colour = colours[i];
    const path = points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`);
    out.push(
      `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    );
    for (const [px, py] of points)
      out.push(
        `<circle cx="${x(px).toFixed(1)}" cy="${y(py).toFixed(1)}" r="3" fill="${colour}"/>`,
      );
    if (lines.length > 1)
      out.push(`<text x="${offset + left + i * 100}" y="33" style="fill:${colour}">${name}</text>`);
  }
  return out.join('\n');
}

/** Charts beside one another. */
export function plot(panels) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width * panels.length} ${height}" width="${width * panels.length}" height="${height}">
<style>text{font:12px system-ui,sans-serif;fill:#777}.title{font-weight:600}.grid{stroke:#8884;stroke-width:1}</style>
${panels.map((one, i) => panel(one, i * width)).join('\n')}
</svg>
`;
}
