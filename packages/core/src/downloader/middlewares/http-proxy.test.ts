import { expect, test } from 'vitest';

import { Request, type RequestMeta } from '../../http/request.ts';
import { type Environment, HttpProxyMiddleware } from './http-proxy.ts';

function proxied(environment: Environment, url: string, meta: RequestMeta = {}): Request {
  const request = new Request(url, { meta });
  new HttpProxyMiddleware(environment).processRequest(request);
  return request;
}

const environment = {
  http_proxy: 'http://u:p@one.test:3128',
  HTTPS_PROXY: 'two.test:3128',
  no_proxy: 'localhost, .intern.test,plain.test:8080',
};

test('the environment chooses by scheme, and credentials leave the URL', () => {
  const http = proxied(environment, 'http://a.test/');
  expect(http.meta.proxy).toBe('http://one.test:3128');
  expect(http.headers.get('proxy-authorization')).toBe(
    `Basic ${Buffer.from('u:p').toString('base64')}`,
  );
  const https = proxied(environment, 'https://a.test/');
  expect(https.meta.proxy).toBe('http://two.test:3128');
  expect(https.headers.has('proxy-authorization')).toBe(false);
});

test.each([
  ['http://localhost/', false],
  ['http://www.intern.test/', false],
  ['http://intern.test/', false],
  ['http://notintern.test/', true],
  ['http://plain.test:8080/', false],
  ['http://plain.test/', true],
])('no_proxy: %s goes by the proxy: %s', (url, expected) => {
  expect(proxied(environment, url).meta.proxy !== undefined).toBe(expected);
});

test('meta.proxy wins, and null is no proxy', () => {
  expect(proxied(environment, 'http://a.test/', { proxy: 'http://own.test:1' }).meta.proxy).toBe(
    'http://own.test:1',
  );
  expect(proxied(environment, 'http://a.test/', { proxy: null }).meta.proxy).toBeNull();
});

test('another proxy does not get the credentials of the first, and no proxy means none', () => {
  const request = proxied({}, 'http://a.test/', { proxy: 'http://u:p@one.test:1' });
  const middleware = new HttpProxyMiddleware({});
  middleware.processRequest(request);
  expect(request.headers.has('proxy-authorization')).toBe(true);
  request.meta.proxy = 'http://two.test:1';
  middleware.processRequest(request);
  expect(request.headers.has('proxy-authorization')).toBe(false);
  const direct = new Request('http://a.test/', {
    headers: { 'Proxy-Authorization': 'Basic eA==' },
  });
  middleware.processRequest(direct);
  expect(direct.headers.has('proxy-authorization')).toBe(false);
});

test('a CGI visitor cannot name the proxy', () => {
  const cgi = { HTTP_PROXY: 'http://evil.test', REQUEST_METHOD: 'GET' };
  expect(proxied(cgi, 'http://a.test/').meta.proxy).toBeUndefined();
});
