/** Splits items into parts in their order. A part has at most `most` of what `sizeOf` counts, unless one item has more. */
export function partsOf<Item>(items: readonly Item[], sizeOf: (item: Item) => number, most: number): Item[][] {
  const parts: Item[][] = [];
  let part: Item[] | undefined;
  let size = 0;
  for (const item of items) {
    size += sizeOf(item);
    if (part === undefined || size > most) {
      part = [];
      parts.push(part);
      size = sizeOf(item);
    }
    part.push(item);
  }
  return parts;
}
