import { isWellFormed } from '../encoding/utf8';
import { TlogError } from '../errors';

/**
 * Makes sure that a text may name a key, C2SP signed-note "Format": not empty, no Unicode space, no plus; and, being in a
 * note, no control character.
 *
 * @throws TlogError `malformed`
 */
export function requireKeyName(name: string): void {
  if (name !== '' && isWellFormed(name) && !/[\p{White_Space}+\u0000-\u001f]/u.test(name)) return;
  throw new TlogError('malformed', 'A key name has no space, plus or control character.');
}
