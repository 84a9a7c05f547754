import type { Query } from '@identity-state/client';

const MAX_NAME = 128;
const MAX_ID = 512;

/** What a text to find may mean: a name, an identifier, the begin of an id. Each is asked by itself. */
export interface Meaning {
  readonly kind: 'name' | 'identifier' | 'id';
  readonly query: Query;
}

/** `scheme:value` is an identifier, everything else a name; both may be how an id begins. */
export function meaningsOf(find: string): readonly Meaning[] {
  const isIdentifier = /^[^\s:]+:./.test(find);
  const meanings: Meaning[] = [];
  if (isIdentifier) meanings.push({ kind: 'identifier', query: { identifier: find.slice(0, MAX_ID) } });
  else if (find.length <= MAX_NAME) meanings.push({ kind: 'name', query: { q: find } });
  if (find.length <= MAX_ID) meanings.push({ kind: 'id', query: { subject_id_prefix: find } });
  return meanings;
}
