/** Marks the requests of `start()` with `meta.isStartRequest`. */
export class StartMiddleware {
  getProcessedRequest(request, response) {
    if (response === null) request.meta.isStartRequest ??= true;
    return request;
  }
}
//# sourceMappingURL=start.js.map
