import { DropItem, type ItemPipeline } from 'lycosa';

/** An example: drops items in which nothing is filled in. Clean, check and store items in classes like this one. */
export class DropEmptyItems implements ItemPipeline {
  processItem(item: unknown): unknown {
    const values = Object.values(item as Record<string, unknown>);
    if (values.every((value) => value === undefined || value === null || value === '')) {
      throw new DropItem('nothing in it');
    }
    return item;
  }
}
