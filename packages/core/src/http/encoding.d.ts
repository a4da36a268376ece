/** The standard's name of a charset label, or undefined for one it does not know. */
export declare function encodingOf(label: string | undefined): string | undefined;
/** The charset that the header or the page says. */
export declare function declaredEncoding(
  body: Buffer,
  contentType: string | undefined,
): string | undefined;
/** The charset of a body: byte order mark, header, declaration in the page, valid UTF-8, else windows-1252. */
export declare function detectEncoding(body: Buffer, contentType: string | undefined): string;
/** The text; bytes that mean nothing become U+FFFD, a byte order mark goes. Never throws. */
export declare function decode(body: Buffer, encoding: string): string;
//# sourceMappingURL=encoding.d.ts.map
