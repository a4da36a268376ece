import { parseDocument } from 'htmlparser2';
/** A page as a tree of domhandler nodes. Never throws: every text is some page. */
export function parseTree(text, isXml = false) {
  return parseDocument(text, isXml ? { xmlMode: true } : {});
}
//# sourceMappingURL=tree.js.map
