/** Not the prefix of an issuer, so that no real entity has such an identifier. */
const PREFIX = '000000FICT';

/** Returns a fictional legal entity identifier (ISO 17442) with valid check digits. */
export function leiOf(number: number): string {
  const body = `${PREFIX}${String(number).padStart(8, '0')}`;
  return `${body}${String(98 - remainder(`${body}00`)).padStart(2, '0')}`;
}

/** Returns whether the check digits are valid (ISO/IEC 7064, MOD 97-10). */
export function hasRightCheckDigits(lei: string): boolean {
  return /^[0-9A-Z]{18}[0-9]{2}$/.test(lei) && remainder(lei) === 1;
}

/** Returns the remainder modulo 97 of the text as a number, with A as 10 to Z as 35. */
function remainder(text: string): number {
  return [...text].reduce((rest, character) => {
    const value = Number.parseInt(character, 36);
    return (rest * (value > 9 ? 100 : 10) + value) % 97;
  }, 0);
}
