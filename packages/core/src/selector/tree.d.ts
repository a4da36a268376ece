import type { Document } from 'domhandler';
/** A page as a tree of domhandler nodes. Never throws: every text is some page. */
export declare function parseTree(text: string, isXml?: boolean): Document;
//# sourceMappingURL=tree.d.ts.map
