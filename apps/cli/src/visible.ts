/** The maximum length of foreign text. Longer text is cut. */
const MAX_SHOWN = 2_000;

/** Characters that move the cursor, change the text direction, or are invisible. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** The same without newlines and tabs, which commands use for layout. */
const HIDDEN_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** The colours of `styleOf` and the cursor moves of `Progress`. */
const OWN_SEQUENCE = /(\u001b\[(?:(?:1|2|22|31|32|33|36|39)m|1A|2K))/;

/** Escapes a foreign value for one line of output. Newlines are escaped too, because they could forge lines. Long text is cut. */
export function visible(value: unknown): string {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value));
  return visibleWhole(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text);
}

/** Escapes as {@link visible}, but cuts nothing. */
export function visibleWhole(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/**
 * Escapes the output of a command as the last step. Escaped JSON has the same meaning. Colours pass only if the screen shows
 * them.
 */
export function visibleLines(text: string, isStyled: boolean): string {
  if (!isStyled) return text.replace(HIDDEN_IN_LINES, escaped);
  return text
    .split(OWN_SEQUENCE)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(HIDDEN_IN_LINES, escaped)))
    .join('');
}

/** Returns JSON escapes, one for each UTF-16 unit. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_unit, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}
