/** The number of lines per part, which a browser lays out in a few milliseconds. */
const LINES = 400;
/** A part that has grown by this factor is split again. */
const GROWTH = 4;
/** The maximum number of characters per part, for very long lines. */
const CHARACTERS = 40_000;

/** A text in parts of whole lines, each including its line breaks. */
export interface Parts {
  readonly whole: string;
  readonly texts: readonly string[];
  readonly isLong: (text: string) => boolean;
}

/** Splits a text into parts. A line that is longer than a part is split too. */
export function partsOf(whole: string): Parts {
  const texts: string[] = [];
  for (let start = 0; start < whole.length || texts.length === 0;) {
    const end = endOfPart(whole, start);
    texts.push(whole.slice(start, end));
    start = end;
  }
  return { whole, texts, isLong };
}

function endOfPart(whole: string, start: number): number {
  const most = start + CHARACTERS;
  let end = start;
  for (let line = 0; line < LINES; line++) {
    const at = whole.indexOf('\n', end);
    const next = at === -1 ? whole.length : at + 1;
    if (next > most) return end === start ? Math.min(most, whole.length) : end;
    end = next;
    if (at === -1) break;
  }
  return end;
}

function isLong(text: string): boolean {
  return text.length > CHARACTERS * GROWTH || text.split('\n', LINES * GROWTH).length === LINES * GROWTH;
}

/** Returns the index of the part that contains a character of the whole text, and the character's offset in it. */
export function placeIn({ texts }: Parts, at: number): { readonly index: number; readonly offset: number } {
  let start = 0;
  for (const [index, text] of texts.entries()) {
    if (at < start + text.length) return { index, offset: at - start };
    start += text.length;
  }
  return { index: 0, offset: 0 };
}
