import { describe, expect, test } from 'vitest';

import { FormRequest } from './form-request.ts';
import { JsonRequest } from './json-request.ts';
import { Request } from './request.ts';
import { createResponse } from './response-types.ts';
import { requestFromDict } from './serialize.ts';

const page = (body: string, url = 'http://h.test/'): ReturnType<typeof createResponse> =>
  createResponse(url, { headers: { 'content-type': 'text/html' }, body: Buffer.from(body) });
const bodyOf = (request: Request): string => Buffer.from(request.body ?? []).toString();

describe('JsonRequest', () => {
  test('data is sent by POST with the headers of JSON', () => {
    const request = new JsonRequest('http://h.test/', { data: { a: [1] } });
    expect([request.method, bodyOf(request)]).toEqual(['POST', '{"a":[1]}']);
    expect(request.headers.get('content-type')).toBe('application/json');
    expect(request.headers.get('accept')).toContain('application/json');
    expect(new JsonRequest('http://h.test/').method).toBe('GET');
  });

  test('dumps writes the data, and replace() takes other data', () => {
    const request = new JsonRequest('http://h.test/', { data: 1, dumps: () => 'one' });
    expect(bodyOf(request)).toBe('one');
    expect(bodyOf(request.replace({ priority: 1 }))).toBe('one');
    expect(bodyOf(request.replace({ data: { b: 2 } } as object))).toBe('{"b":2}');
  });

  test('data and body together are refused, and so is what JSON does not know', () => {
    expect(() => new JsonRequest('http://h.test/', { data: 1, body: 'x' })).toThrow(/not both/);
    expect(() => new JsonRequest('http://h.test/', { data: () => 1 })).toThrow(/JSON/);
  });
});

describe('FormRequest', () => {
  test('a GET has its fields in the query, others in the body', () => {
    const formdata = { a: ['1', 'ü'], b: null };
    expect(new FormRequest('http://h.test/?x=1#f', { method: 'get', formdata }).url).toBe(
      'http://h.test/?a=1&a=%C3%BC',
    );
    const post = new FormRequest('http://h.test/', { formdata });
    expect([post.method, bodyOf(post)]).toEqual(['POST', 'a=1&a=%C3%BC']);
    expect(bodyOf(post.replace({ formdata: { c: '3' } } as object))).toBe('c=3');
  });

  test('a form is sent as a browser sends it', () => {
    const response =
      page(`<base href="/in/"><input name=far value=1 form=f><form id=f action=go method=post>
      <input name=off value=1 disabled><input type=checkbox name=c checked><input type=radio name=r value=1>
      <select name=s multiple><option selected>1<option selected value=two>2</select>
      <textarea name=t>x y</textarea><button name=b value=1>go</button></form>`);
    const request = FormRequest.fromResponse(response, { formdata: { t: 'z' } });
    expect(request.url).toBe('http://h.test/in/go');
    expect(bodyOf(request)).toBe('far=1&c=on&s=1&s=two&b=1&t=z');
    const without = FormRequest.fromResponse(response, {
      formdata: { t: null, s: null },
      dontClick: true,
    });
    expect(bodyOf(without)).toBe('far=1&c=on');
  });

  test('a form is found by CSS or XPath of it or of what is in it, and sent in the charset of its page', () => {
    const response = createResponse('http://h.test/', {
      headers: { 'content-type': 'text/html; charset=latin1' },
      body: Buffer.from(
        '<form><input name=a></form><form method=post><p><input name=b value="\xe9"></p></form>',
        'latin1',
      ),
    });
    const found = [{ formxpath: '//input[@name="b"]' }, { formcss: 'p' }, { formnumber: 1 }].map(
      (options) => bodyOf(FormRequest.fromResponse(response, options)),
    );
    expect(found).toEqual(['b=%E9', 'b=%E9', 'b=%E9']);
    const own = FormRequest.fromResponse(response, { formdata: { a: '京' }, encoding: 'utf-8' });
    expect(own.url).toBe('http://h.test/?a=%E4%BA%AC');
    expect(() => FormRequest.fromResponse(response, { formxpath: '//b' })).toThrow('//b');
  });

  test('a page without the form asked for is an error that says so', () => {
    expect(() => FormRequest.fromResponse(page('<p>'))).toThrow(/no form/);
    expect(() => FormRequest.fromResponse(page('<form>'), { formnumber: 3 })).toThrow(/number 3/);
  });
});

describe('curl', () => {
  test('options may be glued to their values and to each other', () => {
    const request = Request.fromCurl(
      `curl -sSLXPUT h.test/a -H'X-A: 1' --compressed -d a=1 -d 'b=2' \\\n -A ua`,
    );
    expect([request.method, request.url, bodyOf(request)]).toEqual([
      'PUT',
      'http://h.test/a',
      'a=1&b=2',
    ]);
    expect(request.headers.get('x-a')).toBe('1');
    expect(request.headers.get('user-agent')).toBe('ua');
  });

  test('a request goes through curl and back, whatever is in it', () => {
    const request = new Request('http://h.test/?a=1', {
      method: 'PATCH',
      headers: { 'x-quote': `it's "$HOME" \\n`, 'content-type': 'text/plain' },
      body: `line 1\nit's $(2) \\`,
      cookies: { a: '1', b: 'x y' },
    });
    const back = Request.fromCurl(request.toCurl());
    expect(back.toDict()).toEqual(request.toDict());
  });

  test('files, unknown options and open quotes are refused', () => {
    expect(() => Request.fromCurl('curl h.test -d @/etc/passwd')).toThrow(/file/);
    expect(() => Request.fromCurl('curl h.test --frobnicate')).toThrow(/frobnicate/);
    expect(() => Request.fromCurl(`curl 'h.test`)).toThrow(/quote/i);
    expect(() => Request.fromCurl('wget h.test')).toThrow(/begins with curl/);
    expect(() => Request.fromCurl('curl -X POST')).toThrow(/no URL/);
  });
});

test('a request survives as plain data', () => {
  const request = new Request('http://h.test/', { method: 'POST', body: 'x', meta: { depth: 1 } });
  const dict = JSON.parse(JSON.stringify(request.toDict())) as ReturnType<Request['toDict']>;
  expect(requestFromDict(dict).toDict()).toEqual(dict);
});
