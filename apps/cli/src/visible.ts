/** Characters of what others wrote that are shown at most. */
const MAX_SHOWN = 2_000;

/**
 * What others wrote, fit for a line on a screen: control characters (also newlines, which would forge lines of a report) and
 * those that turn the direction of writing come as escapes, and what is long is cut.
 */
export function visible(text: string): string {
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text;
  return cut.replace(
    /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
