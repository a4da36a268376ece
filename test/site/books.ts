/** A book of the bundled bookshop. */
export interface ShopBook {
  /** From 1. */
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly author: string;
  readonly category: string;
  /** Pence. */
  readonly price: number;
  /** 1 to 5 stars. */
  readonly rating: number;
  /** Copies on the shelf; 0 is sold out. */
  readonly stock: number;
  readonly upc: string;
  readonly description: string;
}

export const categories = [
  'Travel',
  'Mystery',
  'Poetry',
  'History',
  'Gardening',
  'Science',
  'Cookery',
  'Children',
  'Letters',
  'The Sea',
] as const;

const adjectives =
  'Quiet Amber Borrowed Crooked Distant Early Faithful Glass Hidden Iron Late Marble Narrow Open Patient Restless Salted Unfinished Velvet Winter'.split(
    ' ',
  );
const nouns =
  'Almanac Bridge Cartographer Doorway Estuary Ferry Garden Harbour Island Jackdaw Kitchen Lighthouse Meridian Notebook Orchard Parlour Quarry River Spider Timetable Umbrella Voyage Weaver Window Year'.split(
    ' ',
  );
const places =
  'Ardmore Bellweather Calder Dunmore Eastfold Farrow Glenrock Hollin Inverlee Kestrel'.split(' ');
const firstNames = 'Ada Bruno Clara Desmond Edith Farid Greta Hugo Ines Jonas Kemi Lena'.split(' ');
const lastNames = 'Abbott Brandt Castell Dufour Ekberg Fairley Grieve Hartwell Ito Jansen'.split(
  ' ',
);
const openings = [
  'Nobody in {place} expected the {noun} to come back.',
  'It starts with a {noun}, a debt and a very long train journey to {place}.',
  'Twelve letters, one {noun}, and a town called {place} that is on no map.',
  'What do we owe to the people who built the {noun} at {place}?',
  'A small book about a large {noun}, and the summer it was taken from {place}.',
];
const middles = [
  'The author walked the whole coast to write it, and it shows.',
  'Half of it was written in kitchens, the other half on ferries.',
  'Each chapter begins where a wrong turn was taken.',
  'There are maps, two recipes and one unreliable uncle.',
  'It is “funny & sad” in about equal parts, said one reader.',
];
const endings = [
  'Best read slowly, with tea.',
  'The last page is worth the wait.',
  'For everyone who has ever missed a connection.',
  'Winner of a prize that no longer exists.',
  'With drawings by the author’s sister.',
];

/** The same books for the same seed, on every machine. Titles are not unique, slugs with id are. */
export function makeBooks(count: number, seed = 1): ShopBook[] {
  const random = mulberry32(seed);
  const whole = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  return Array.from({ length: count }, (_, index) => {
    const noun = pick(nouns);
    const place = pick(places);
    const title = pick([
      `The ${pick(adjectives)} ${noun}`,
      `${pick(adjectives)} ${noun}, ${pick(adjectives)} ${pick(nouns)}`,
      `${/^[AEIOU]/.test(noun) ? 'An' : 'A'} ${noun} in ${place}`,
      `${place} & the ${noun}`,
    ]);
    return {
      id: index + 1,
      slug: slugify(title),
      title,
      author: `${pick(firstNames)} ${pick(lastNames)}`,
      category: pick(categories),
      price: whole(350, 6000),
      rating: whole(1, 5),
      stock: random() < 0.1 ? 0 : whole(1, 40),
      upc: Array.from({ length: 16 }, () => whole(0, 15).toString(16)).join(''),
      description: [pick(openings), pick(middles), pick(endings)]
        .join(' ')
        .replace('{noun}', noun.toLowerCase())
        .replace('{place}', place),
    };
  });
}

/** Lower-case words and hyphens: a part of a URL. */
export function slugify(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** A small seeded generator of numbers in [0, 1); `Math.random` cannot be seeded. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
