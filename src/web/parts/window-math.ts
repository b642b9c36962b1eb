/** The rows to draw for a scroll position: those in sight and some on either side. */
export function rowsInSight(
  scrollTop: number,
  height: number,
  rowHeight: number,
  count: number,
  around = 6,
): { readonly first: number; readonly last: number } {
  const first = Math.min(count, Math.max(0, Math.floor(scrollTop / rowHeight) - around));
  const last = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + around);
  return { first, last: Math.max(first, last) };
}

/** Scroll position that brings a row into sight, moved as little as possible. */
export function scrollToShow(index: number, scrollTop: number, height: number, rowHeight: number): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return scrollTop;
}

/**
 * By how many rows the row that stood at `index` has moved; 0 when it is gone. Looks near its old place only: rows come
 * in at the top a few at a time.
 */
export function rowsMoved<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  key: string,
  index: number,
  reach = 1000,
): number {
  for (let away = 0; away <= reach; away += 1) {
    const below = items[index + away];
    if (below !== undefined && keyOf(below) === key) return away;
    const above = items[index - away];
    if (above !== undefined && keyOf(above) === key) return away === 0 ? 0 : -away;
  }
  return 0;
}
