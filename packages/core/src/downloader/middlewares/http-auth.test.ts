import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { SettingsError } from '../../errors.ts';
import { Request } from '../../http/request.ts';
import { HttpAuthMiddleware } from './http-auth.ts';

test('credentials go to their domain and below it, nowhere else', () => {
  const settings = { HTTPAUTH_USER: 'u', HTTPAUTH_PASS: 'p', HTTPAUTH_DOMAIN: 'a.test' };
  const middleware = HttpAuthMiddleware.fromCrawler(fakeCrawler({ settings }).crawler);
  const sent = (url: string, options = {}): string | undefined => {
    const request = new Request(url, options);
    middleware.processRequest(request);
    return request.headers.get('authorization');
  };
  expect(sent('https://a.test/')).toBe('Basic dTpw');
  expect(sent('https://www.a.test/')).toBe('Basic dTpw');
  expect(sent('https://b.test/')).toBeUndefined();
  expect(sent('https://a.test/', { headers: { Authorization: 'own' } })).toBe('own');
  expect(sent('https://b.test/', { meta: { httpUser: 'x', httpPass: 'y' } })).toBe('Basic eDp5');
});

test('credentials without a domain are refused', () => {
  const { crawler } = fakeCrawler({ settings: { HTTPAUTH_USER: 'u' } });
  expect(() => HttpAuthMiddleware.fromCrawler(crawler)).toThrow(SettingsError);
});
