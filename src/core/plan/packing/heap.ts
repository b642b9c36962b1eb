/** What stands in a heap knows its place in it, so that it can be moved when its rank changes. */
export interface Ranked {
  /** -1 while it stands in none. */
  place: number;
}

/** Best first. */
export class Heap<Item extends Ranked> {
  private readonly items: Item[] = [];
  private readonly before: (a: Item, b: Item) => boolean;

  constructor(before: (a: Item, b: Item) => boolean) {
    this.before = before;
  }

  get best(): Item | undefined {
    return this.items[0];
  }

  /** Puts an item in, or moves one whose rank has changed. */
  put(item: Item): void {
    if (item.place < 0) {
      item.place = this.items.length;
      this.items.push(item);
    }
    this.rise(item);
    this.sink(item);
  }

  remove(item: Item): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.items.pop() as Item;
    if (last === item) return;
    this.items[place] = last;
    last.place = place;
    this.rise(last);
    this.sink(last);
  }

  private rise(item: Item): void {
    const { items } = this;
    let at = item.place;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as Item;
      if (!this.before(item, above)) break;
      items[at] = above;
      above.place = at;
      at = parent;
    }
    items[at] = item;
    item.place = at;
  }

  private sink(item: Item): void {
    const { items } = this;
    let at = item.place;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.before(items[child + 1] as Item, items[child] as Item)) child++;
      const below = items[child] as Item;
      if (!this.before(below, item)) break;
      items[at] = below;
      below.place = at;
      at = child;
    }
    items[at] = item;
    item.place = at;
  }
}
