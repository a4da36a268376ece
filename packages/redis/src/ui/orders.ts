import { UsageError } from 'lycosa';

import type { Fleet } from '../fleet.ts';
import type { Outcome } from './page/api.ts';
import type { FleetView } from './view.ts';

/** So many names come in one order. */
const maxNames = 20_000;

/** What operators order of a fleet. */
export class FleetOrders {
  readonly #fleet: Fleet;
  readonly #view: FleetView;

  constructor(fleet: Fleet, view: FleetView) {
    this.#fleet = fleet;
    this.#view = view;
  }

  async stop(body: unknown): Promise<Outcome> {
    const names = namesOf(body);
    const fast = (body as { fast?: unknown }).fast === true;
    await this.#view.needRedis();
    const before = await this.#view.attempts(names);
    let done = 0;
    for (const name of names) if (await this.#fleet.stop(name, { fast })) done++;
    this.#view.expire(before);
    return { done, missed: names.length - done };
  }

  async requeue(body: unknown): Promise<Outcome> {
    const names = namesOf(body);
    await this.#view.needRedis();
    const done = await this.#fleet.requeue(names);
    this.#view.expire();
    return { done, missed: names.length - done };
  }

  async drain(): Promise<void> {
    await this.#view.needRedis();
    await this.#fleet.drain();
    this.#view.expire();
  }

  async resume(): Promise<void> {
    await this.#view.needRedis();
    await this.#fleet.resume();
    this.#view.expire();
  }
}

/** @throws UsageError for what is no list of names. */
function namesOf(body: unknown): string[] {
  const names = (body as { names?: unknown } | null)?.names;
  const isList =
    Array.isArray(names) &&
    names.length > 0 &&
    names.length <= maxNames &&
    names.every((name) => typeof name === 'string' && name !== '');
  if (isList) return [...new Set(names as string[])];
  throw new UsageError(`An order needs { "names": […] }, with 1 to ${maxNames} names of spiders.`);
}
