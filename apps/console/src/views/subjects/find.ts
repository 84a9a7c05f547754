import type { Query } from '@identity-state/client';

const MAX_NAME = 128;
const MAX_ID = 512;

/** What a text to find may mean: a name, an identifier, the begin of an id. Each is asked by itself. */
export interface Meaning {
  readonly kind: 'name' | 'identifier' | 'id';
  readonly query: Query;
}

/** ISO 17442: twenty characters, the last two of them digits. */
const LEI = /^[a-z0-9]{18}[0-9]{2}$/i;

/** `scheme:value` and a bare LEI are identifiers, everything else is a name; both may be how an id begins. */
export function meaningsOf(find: string): readonly Meaning[] {
  const identifier = LEI.test(find) ? `lei:${find}` : find;
  const isIdentifier = /^[^\s:]+:./.test(identifier);
  const meanings: Meaning[] = [];
  if (isIdentifier) meanings.push({ kind: 'identifier', query: { identifier: identifier.slice(0, MAX_ID) } });
  else if (find.length <= MAX_NAME) meanings.push({ kind: 'name', query: { q: find } });
  if (find.length <= MAX_ID) meanings.push({ kind: 'id', query: { subject_id_prefix: find } });
  return meanings;
}
