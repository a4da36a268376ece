import { expect, test } from 'vitest';

import { createLogger } from '../log/logger.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { LogCount } from './log-count.ts';

test('records are counted by level, those below LOG_LEVEL and those of others are not', () => {
  const root = createLogger({ level: 'INFO', destination: { write() {} } });
  const log = root.child({ spider: 'quotes' });
  const stats = new StatsCollector();
  new LogCount({ log, stats });
  log.debug('not admitted');
  log.info('one');
  log.info('two');
  log.warn('three');
  log.error('four');
  root.error('of the process');
  root.child({ spider: 'books' }).error('of another spider');
  expect(stats.getAll()).toEqual({
    'log_count/ERROR': 1,
    'log_count/INFO': 2,
    'log_count/WARNING': 1,
  });
});

test('who listened to the log before still hears it', () => {
  const log = createLogger({ destination: { write() {} } });
  const levels: string[] = [];
  log.onRecord = (level) => levels.push(level);
  new LogCount({ log, stats: new StatsCollector() });
  log.info('one');
  expect(levels).toEqual(['INFO']);
});
