import { Response, type ResponseInit } from './response.ts';
/** Anything with text. */
export declare class TextResponse extends Response {
  get isText(): boolean;
}
export declare class HtmlResponse extends TextResponse {}
export declare class XmlResponse extends TextResponse {
  protected get isXml(): boolean;
}
export declare class JsonResponse extends TextResponse {}
/** A response of the class that fits its content. */
export declare function createResponse(url: string, init?: ResponseInit): Response;
//# sourceMappingURL=response-types.d.ts.map
