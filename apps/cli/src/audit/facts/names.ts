import type { Row } from '../database';
import { memberOf } from './envelopes';
import { type Found, report } from '../findings';

/**
 * The column for {@link checkName}: the name in lists of the subject `s`, if `n` is its latest version. While names are derived again
 * after a migration, they are not checked.
 */
export const NAME_COLUMN = `CASE WHEN NOT EXISTS (SELECT FROM snapshots later WHERE later.subject_key = n.subject_key
                                                AND later.snapshot_version = n.snapshot_version + 1)
              AND NOT EXISTS (SELECT FROM search_backfill) THEN coalesce(s.display_name, '') END`;

/** Characters of a name in lists. */
const MAX_NAME = 200;
/** Characters that decide whether a text is a name. */
const MAX_FOLDED = 2_048;
const UNNAMED = /^[\s\p{Cc}\u0300-\u036f]*$/u;

/** Compares the name in lists with the name in the latest version. An erased version has none. */
export function checkName(found: Found, where: string, shown: Row[number] | undefined, envelope: unknown): void {
  if (shown === undefined || shown === null) return;
  const name = nameIn(envelope);
  if (shown !== name) {
    report(found, 'name', where, `lists show the name ${JSON.stringify(shown)} instead of ${JSON.stringify(name)}`);
  }
}

/** Returns the legal name, or else the name of the individual; empty without a name. */
function nameIn(envelope: unknown): string {
  const attributes = memberOf(envelope, 'attributes');
  const name = memberOf(memberOf(attributes, 'biographic'), 'name');
  const parts = [memberOf(name, 'given_name'), memberOf(name, 'family_name')];
  const texts = [
    memberOf(memberOf(attributes, 'legal'), 'legal_name'),
    memberOf(name, 'formatted_name'),
    parts.filter((part) => typeof part === 'string').join(' '),
  ].filter((text) => typeof text === 'string');
  const first = texts.find(
    (text) => !UNNAMED.test(text.slice(0, MAX_FOLDED).normalize('NFKC').toUpperCase().normalize('NFKD')),
  );
  const spaced = (first ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return Array.from(spaced).slice(0, MAX_NAME).join('').trimEnd();
}
