/** No issuer's prefix, and a part that no issuer would give: what carries it belongs to nobody. */
const PREFIX = '000000FICT';

/** A made-up legal entity identifier (ISO 17442) with the check digits that belong to it. */
export function leiOf(number: number): string {
  const body = `${PREFIX}${String(number).padStart(8, '0')}`;
  return `${body}${String(98 - remainder(`${body}00`)).padStart(2, '0')}`;
}

/** Whether the check digits fit (ISO/IEC 7064, MOD 97-10). */
export function hasRightCheckDigits(lei: string): boolean {
  return /^[0-9A-Z]{18}[0-9]{2}$/.test(lei) && remainder(lei) === 1;
}

/** Of the number that letters make with A as 10 to Z as 35, divided by 97. */
function remainder(text: string): number {
  return [...text].reduce((rest, character) => {
    const value = Number.parseInt(character, 36);
    return (rest * (value > 9 ? 100 : 10) + value) % 97;
  }, 0);
}
