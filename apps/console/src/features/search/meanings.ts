const MAX_NAME = 128;
const MAX_ID = 512;

/** A meaning of a search text: a name, an identifier, or the beginning of an id. Each is a query of its own. */
export interface Meaning {
  readonly kind: 'name' | 'identifier' | 'id';
  readonly query: { readonly q?: string; readonly identifier?: string; readonly subject_id_prefix?: string };
}

/** ISO 17442: twenty characters, the last two of them digits. */
const LEI = /^[a-z0-9]{18}[0-9]{2}$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Letters, digits and their separators, with at least three digits. */
const BARE = /^(?=(?:\D*\d){3})[\p{L}\p{N}][\p{L}\p{N} ./_-]{2,63}$/u;

/**
 * Returns the meanings of a text. `scheme:value` and an LEI are identifiers, other texts are names, and some of them may also be
 * identifiers without a scheme. All of them can be the start of an id.
 */
export function meaningsOf(find: string): readonly Meaning[] {
  const isIdentifier = LEI.test(find) || /^[^\s:]+:./.test(find);
  const meanings: Meaning[] = [];
  if (!isIdentifier && find.length <= MAX_NAME) meanings.push({ kind: 'name', query: { q: find } });
  if (isIdentifier || isBareIdentifier(find))
    meanings.push({ kind: 'identifier', query: { identifier: find.slice(0, MAX_ID) } });
  if (find.length <= MAX_ID) meanings.push({ kind: 'id', query: { subject_id_prefix: find } });
  return meanings;
}

/** Checks whether a text that is no id of a record can be an identifier without its scheme. */
function isBareIdentifier(find: string): boolean {
  return BARE.test(find) && !isRecordId(find);
}

/** Checks whether a text can be the id of a snapshot, grant, update or request. */
export function isRecordId(find: string): boolean {
  return UUID.test(find);
}
