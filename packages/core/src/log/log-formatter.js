/**
 * Words the records that are written for requests and items. Extend it to change or silence them (null). Items are
 * named by what they are, not by what they hold.
 */
export class LogFormatter {
  log(logger, record) {
    if (record) logger.log(record.level, record.message, record.fields);
  }
  crawled(request, response) {
    const referer = request.hasHeaders ? request.headers.get('referer') : undefined;
    const flags = response.flags.length > 0 ? ` [${response.flags.join(', ')}]` : '';
    return {
      level: 'DEBUG',
      message: `Crawled (${response.status}) ${request.toString()}${referer ? ` (referer: ${referer})` : ''}${flags}`,
    };
  }
  scraped(item, response) {
    return { level: 'DEBUG', message: `Scraped ${kindOf(item)} from ${sourceOf(response)}` };
  }
  dropped(item, error, response, level = 'WARNING') {
    return {
      level: error.logLevel ?? level,
      message: `Dropped ${kindOf(item)} from ${sourceOf(response)}: ${error.message}`,
    };
  }
  itemError(item, error, response) {
    return {
      level: 'ERROR',
      message: `A pipeline failed on ${kindOf(item)} from ${sourceOf(response)}: ${error.name}: ${error.message}`,
      fields: { error },
    };
  }
  spiderError(error, request, response) {
    const where = request
      ? `${String(request.callback ?? 'parse')}() failed on ${request.toString()}`
      : 'start() failed';
    return {
      level: 'ERROR',
      message: `${where}: ${error.name}: ${error.message}${place(error)}`,
      fields: { error, ...(response && { status: response.status }) },
    };
  }
  downloadError(error, _request) {
    return { level: 'ERROR', message: `${error.name}: ${error.message}`, fields: { error } };
  }
}
function kindOf(item) {
  const name = item?.constructor?.name;
  return name === undefined || name === 'Object' ? 'an item' : `a ${name}`;
}
function sourceOf(response) {
  return response ? response.toString() : 'start()';
}
/** The line of user code where it happened, so that no stack need be read. */
function place(error) {
  const line = error.stack
    ?.split('\n')
    .find((one) => /^\s+at /.test(one) && !/node:|node_modules/.test(one));
  const at = line && /\(?((?:file:\/\/)?\/[^()]+:\d+):\d+\)?$/.exec(line)?.[1];
  return at ? ` (${at.replace('file://', '')})` : '';
}
//# sourceMappingURL=log-formatter.js.map
