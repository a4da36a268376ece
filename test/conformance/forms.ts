import { FormRequest, Request } from 'lycosa';

import { bytesOf, camelCase, type Data, type Judge, responseOf, same, textOf } from './vectors.ts';

export const formJudges: Readonly<Record<string, Judge>> = {
  curl({ args, returns, raises }) {
    let request: Request;
    try {
      request = Request.fromCurl(args.curl_command);
    } catch (error) {
      return raises !== undefined || { got: error };
    }
    if (returns === undefined) return { got: request };
    const got = {
      url: request.url,
      method: request.method,
      authorization: request.headers.get('authorization'),
      cookies: request.cookies,
      body: request.body && Buffer.from(request.body).toString(),
    };
    const headers = new Map(
      ((returns.headers ?? []) as [string, Data][]).map(([name, value]) => [name, textOf(value)]),
    );
    return same(got, {
      url: URL.parse(returns.url as string)?.href,
      method: returns.method,
      authorization: headers.get('Authorization'),
      cookies: returns.cookies,
      body: returns.body,
    });
  },

  form_from_response({ args, returns, raises }) {
    const { response, kwargs, ...rest } = args;
    const options = Object.fromEntries(
      Object.entries({ ...rest, ...kwargs }).map(([name, value]) => [camelCase(name), value]),
    );
    try {
      const got = FormRequest.fromResponse(responseOf(response), options);
      return returns === undefined ? { got } : same(shapeOf(got), expectedOf(returns.$request));
    } catch (error) {
      return raises !== undefined || { got: error };
    }
  },
};

function shapeOf(request: Request): unknown[] {
  return [
    request.url,
    request.method,
    request.headers.get('content-type'),
    Buffer.from(request.body ?? []).toString(),
  ];
}

function expectedOf({ url, method, headers, body }: Data): unknown[] {
  return [
    URL.parse(url as string)?.href,
    method,
    headers?.['Content-Type']?.[0],
    body === undefined ? '' : bytesOf(body).toString(),
  ];
}
