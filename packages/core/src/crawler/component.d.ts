import type { Crawler } from './crawler.ts';
/** A class of components: built by `fromCrawler` where it has one, else by `new` without arguments. */
export interface ComponentClass<T> {
  new (...args: never[]): T;
  readonly name: string;
  fromCrawler?(crawler: Crawler): T;
}
/**
 * Components and their order, low numbers near the engine. `null` switches one off. A text `./file.ts#Export` stands
 * for a class where only text fits.
 */
export type ComponentPriorities<T> = readonly (readonly [
  ComponentClass<T> | string,
  number | null,
])[];
/** The user's list laid over the base list: a class named again gets the new number, `null` takes it out. */
export declare function mergeComponents<T>(
  base: readonly (readonly [ComponentClass<T>, number | null])[],
  user: readonly (readonly [ComponentClass<T>, number | null])[],
): (readonly [ComponentClass<T>, number])[];
/** Builds the components in their order; one that throws `NotConfigured` is left out. */
export declare function buildComponents<T>(
  list: readonly (readonly [ComponentClass<T>, number])[],
  crawler: Crawler,
): T[];
/**
 * Replaces `./file.ts#Export` by the class it names.
 *
 * @param root - Folder that the paths are seen from.
 * @throws SettingsError when there is no such file or export.
 */
export declare function resolveComponents<T>(
  list: ComponentPriorities<T>,
  root: string,
): Promise<(readonly [ComponentClass<T>, number | null])[]>;
//# sourceMappingURL=component.d.ts.map
