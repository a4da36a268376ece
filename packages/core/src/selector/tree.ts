import type { Document } from 'domhandler';
import { parseDocument } from 'htmlparser2';

/** A page as a tree of domhandler nodes. Never throws: every text is some page. */
export function parseTree(text: string, isXml = false): Document {
  return parseDocument(text, isXml ? { xmlMode: true } : {});
}
