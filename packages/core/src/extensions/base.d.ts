import type { ComponentClass } from '../crawler/component.ts';
import type { Extension } from './extension.ts';
/** The extensions every crawl has, unless `EXTENSIONS` switches one off with `null`. */
export declare const baseExtensions: readonly (readonly [ComponentClass<Extension>, number])[];
//# sourceMappingURL=base.d.ts.map
