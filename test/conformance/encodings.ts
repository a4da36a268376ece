import {
  declaredEncoding,
  decode,
  detectEncoding,
  encodingOf,
} from '../../packages/core/src/http/encoding.ts';
import { bytesOf, type Data, type Judge, responseOf, same } from './vectors.ts';

const others: Readonly<Record<string, string>> = {
  big5hkscs: 'big5',
  cp932: 'shift_jis',
  iso2022jp: 'iso-2022-jp',
  'latin-1': 'windows-1252',
};

/** The standard's name of one of Python's. */
export function encodingName(label: string): string {
  return nameOf(label)!;
}

function nameOf(label: string | null): string | null {
  if (label === null) return null;
  const text = label.toLowerCase().replaceAll('_', '-');
  if (text.startsWith('gb18030')) return 'gb18030';
  return (
    encodingOf(text) ?? encodingOf(text.replace(/^cp(\d+)$/, 'windows-$1')) ?? others[text] ?? text
  );
}

/** GBK is decoded as GB 18030. */
function sameName(got: string | undefined | null, expected: Data): ReturnType<typeof same> {
  const one = (name: string | null): string | null => (name === 'gbk' ? 'gb18030' : name);
  return same(one(got ?? null), one(nameOf(expected)));
}

export const encodingJudges: Readonly<Record<string, Judge>> = {
  encoding_html5lib({ body, encoding }) {
    const bytes = Buffer.from(body as string);
    const got = detectEncoding(bytes, undefined);
    const declared = declaredEncoding(bytes, undefined);
    // Without any declaration valid UTF-8 is taken for what it is.
    if (declared === undefined && nameOf(encoding) === 'windows-1252' && got === 'utf-8')
      return true;
    return sameName(got, encoding);
  },

  encoding_labels: ({ label, name }) => same(encodingOf(label), String(name).toLowerCase()),

  encoding_w3lib({ fn, args, returns }) {
    switch (fn) {
      case 'http_content_type_encoding':
        return sameName(declaredEncoding(Buffer.alloc(0), args.content_type), returns);
      case 'html_body_declared_encoding':
        return sameName(declaredEncoding(bytesOf(args.html_body_str), undefined), returns);
      case 'resolve_encoding':
        return sameName(encodingOf(args.encoding_alias), returns);
      case 'to_unicode':
        return same(decode(bytesOf(args.data_str), nameOf(args.encoding)!), returns);
      case 'read_bom': {
        const got = detectEncoding(bytesOf(args.data), 'text/html;charset=koi8-r');
        return sameName(got === 'koi8-r' ? null : got, returns[0]);
      }
      case 'html_to_unicode': {
        // Ours takes no function that guesses.
        if (args.auto_detect_fun) return 'not built';
        const body = bytesOf(args.html_body_str);
        const got = decode(body, detectEncoding(body, args.content_type_header ?? undefined));
        return same(got, returns[1]);
      }
      default:
        return 'not built';
    }
  },

  response_encoding({ args, returns }) {
    // Ours is not told the encoding, it finds it.
    if (args.encoding) return 'not built';
    const response = responseOf({
      $response: { url: 'http://h.test/', type: args.type, headers: args.headers, body: args.body },
    });
    if (response.text !== returns.text) return { got: response.text };
    const isAscii = response.body.every((byte) => byte < 128);
    return isAscii || sameName(response.encoding, returns.encoding);
  },
};
