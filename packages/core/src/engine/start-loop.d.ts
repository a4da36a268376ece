import type { Crawler } from '../crawler/crawler.ts';
import type { Engine } from './engine.ts';
/** Takes what `start()` yields as the crawl has room for it. */
export declare class StartLoop {
  #private;
  constructor(crawler: Crawler, engine: Engine);
  /** True when there is nothing more to come and everything that came is handed on. */
  get isSettled(): boolean;
  get hasFailed(): boolean;
  begin(): void;
  /** The engine has room. */
  more(): void;
  stop(): void;
}
//# sourceMappingURL=start-loop.d.ts.map
