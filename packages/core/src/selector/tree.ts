import type { Document } from 'domhandler';
import { parseDocument } from 'htmlparser2';

import { buildTree } from './tree-builder.ts';

/** A page as a tree of domhandler nodes. Never throws: every text is some page. */
export function parseTree(text: string, isXml = false): Document {
  return isXml ? parseDocument(text, { xmlMode: true }) : buildTree(text);
}
