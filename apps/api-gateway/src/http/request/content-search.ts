import { foldName, parseIdentifier } from '@iss/domain';
import type { ContentSearch } from '@iss/persistence';
import { invalidQuery } from './subject-filter';

interface ContentSent {
  identifier?: string | undefined;
  q?: string | undefined;
}

/**
 * Returns the search, or null if there is none. Throws `validation_error` for an invalid identifier, and for a
 * combination of two searches. `others` are the list's other searches.
 */
export function contentSearch(
  { identifier: text, q }: ContentSent,
  others: Readonly<Record<string, string | undefined>> = {},
): ContentSearch | null {
  if (q !== undefined) {
    requireAlone('q', { identifier: text, ...others });
    return { by: 'name', prefix: foldName(q) };
  }
  if (text === undefined) return null;
  requireAlone('identifier', others);
  const identifier = parseIdentifier(text);
  if (identifier !== null) return { by: 'identifier', identifier };
  throw invalidQuery(
    'identifier',
    'must be scheme:value, for example lei:529900T8BM49AURSDO55, or a value without its scheme',
    'invalid_value',
  );
}

function requireAlone(search: string, others: Readonly<Record<string, string | undefined>>): void {
  const other = Object.keys(others).find((name) => others[name] !== undefined);
  if (other !== undefined)
    throw invalidQuery(search, `cannot be combined with ${other}: send only one of them`, 'mismatch');
}
