import { isWellFormed } from '../encoding/utf8';
import { TlogError } from '../errors';

/**
 * Checks the name of a key (C2SP signed-note "Format"): not empty, and without Unicode spaces, plus signs and control
 * characters.
 *
 * @throws TlogError `malformed`
 */
export function requireKeyName(name: string): void {
  if (name !== '' && isWellFormed(name) && !/[\p{White_Space}+\u0000-\u001f]/u.test(name)) return;
  throw new TlogError('malformed', 'A key name has no space, plus or control character.');
}
