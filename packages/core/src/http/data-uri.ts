import { UsageError } from '../errors.ts';

/** What a `data:` URL holds. */
export interface DataUri {
  readonly mediaType: string;
  readonly mediaTypeParameters: Readonly<Record<string, string>>;
  readonly data: Buffer;
}

const token = String.raw`[\w!#$%&'*+.^\x60|~-]+`;
const mediaType = new RegExp(`^${token}/${token}`);
const parameter = new RegExp(`^;(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)")`);

/**
 * Reads a `data:` URL as RFC 2397 has it, more strictly than a request for it does.
 *
 * @throws UsageError when it is none.
 */
export function parseDataUri(uri: string): DataUri {
  const refuse = (why: string): never => {
    throw new UsageError(`${JSON.stringify(uri.slice(0, 80))} is no data URI: ${why}.`);
  };
  if (!/^data:/i.test(uri)) refuse('it does not begin with data:');
  let rest = Buffer.from(uri.slice(5))
    .toString('latin1')
    .replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const parameters: [string, string][] = [];
  const type = mediaType.exec(rest)?.[0];
  if (type === undefined) parameters.push(['charset', 'US-ASCII']);
  else rest = rest.slice(type.length);
  for (let found = parameter.exec(rest); found !== null; found = parameter.exec(rest)) {
    const [whole, name, plain, quoted = ''] = found;
    parameters.push([name!, plain ?? quoted.replace(/\\(.)/gs, '$1')]);
    rest = rest.slice(whole.length);
  }
  const comma = rest.indexOf(',');
  const mark = rest.slice(0, Math.max(comma, 0));
  if (comma < 0) refuse('it has no comma');
  if (mark !== '' && mark !== ';base64') refuse(`${mark} is no parameter`);
  const data = rest.slice(comma + 1);
  return {
    mediaType: type ?? 'text/plain',
    mediaTypeParameters: Object.fromEntries(parameters),
    data: Buffer.from(data, mark === '' ? 'latin1' : 'base64'),
  };
}
