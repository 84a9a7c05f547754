import type { PackedText } from './packed-text';

/** A part of an object that is read at once, with the texts in it. */
export interface Range {
  object: string;
  offset: number;
  length: number;
  texts: PackedText[];
}

/** The largest gap between two texts that is read too, because another request would cost more. */
const GAP_BYTES = 64 * 1024;
/** The largest range, unless one text is larger. */
const RANGE_BYTES = 8 << 20;

/** Joins texts that are near to each other in their objects. */
export function rangesOf(texts: readonly PackedText[]): Range[] {
  const sorted = texts.toSorted((one, other) =>
    one.object === other.object ? one.offset - other.offset : one.object < other.object ? -1 : 1,
  );
  const ranges: Range[] = [];
  for (const text of sorted) {
    const { object, offset, length } = text;
    const last = ranges.at(-1);
    const joined = last === undefined ? 0 : Math.max(last.length, offset + length - last.offset);
    if (last?.object === object && offset <= last.offset + last.length + GAP_BYTES && joined <= RANGE_BYTES) {
      last.length = joined;
      last.texts.push(text);
    } else ranges.push({ object, offset, length, texts: [text] });
  }
  return ranges;
}
