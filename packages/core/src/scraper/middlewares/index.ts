export { DepthMiddleware } from './depth.ts';
export { HttpErrorMiddleware } from './http-error.ts';
export { LinksPerPageMiddleware } from './links-per-page.ts';
export { RefererMiddleware } from './referer.ts';
export { StartMiddleware } from './start.ts';
export { UrlLengthMiddleware } from './url-length.ts';
