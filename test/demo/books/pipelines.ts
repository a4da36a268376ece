import { DropItem, type ItemPipeline } from 'lycosa';

/** What a page says, as text. */
export interface ScrapedBook {
  url: string;
  title: string;
  author: string;
  category: string;
  price: string;
  rating: string;
  stock: string;
  upc: string;
  description: string;
}

/** What we keep. */
export interface Book extends Omit<ScrapedBook, 'price' | 'rating' | 'stock'> {
  /** Pounds. */
  price: number;
  /** 1 to 5. */
  rating: number;
  /** Copies; 0 is sold out. */
  stock: number;
}

/** Turns texts into numbers, and drops a book without title or price. */
export class CleanBook implements ItemPipeline<ScrapedBook> {
  processItem(item: ScrapedBook): Book {
    const price = Number(/[\d.]+/.exec(item.price)?.[0]);
    if (!item.title || !price) throw new DropItem(`incomplete: ${item.url}`);
    return { ...item, price, rating: Number(item.rating), stock: Number(item.stock) };
  }
}
