/** The candidate most like `name`, or undefined if none is close: what a typing mistake was meant to be. */
export declare function nearest(name: string, candidates: Iterable<string>): string | undefined;
//# sourceMappingURL=nearest.d.ts.map
