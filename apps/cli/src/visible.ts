/** The most characters of foreign text that one place shows. */
const MAX_SHOWN = 2_000;

/** Characters that move the cursor, turn the direction of writing, or show nothing. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Newlines and tabs lay out the lines of a command. The command itself writes them. */
const HIDDEN_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** The colours of `styleOf`, and the moves of a progress line. */
const OWN_SEQUENCE = /(\u001b\[(?:(?:1|2|22|31|32|33|36|39)m|1A|2K))/;

/** Escapes foreign text, or a value that should be one, for one line of a screen: newlines too, which would forge lines of a report. Cuts long text. */
export function visible(value: unknown): string {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value));
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text;
  return cut.replace(HIDDEN, escaped);
}

/**
 * Escapes what a command prints, as the last step before the screen. JSON stays the same JSON. Colours pass only if the
 * screen shows them.
 */
export function visibleLines(text: string, isStyled: boolean): string {
  if (!isStyled) return text.replace(HIDDEN_IN_LINES, escaped);
  return text
    .split(OWN_SEQUENCE)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(HIDDEN_IN_LINES, escaped)))
    .join('');
}

/** Returns the escapes of JSON: one for each UTF-16 unit. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_unit, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}
