import { foldName, parseIdentifier } from '@iss/domain';
import type { ContentSearch } from '@iss/persistence';
import { prefix } from './fields';
import { invalidQuery } from './subject-filter';

/** Filters of a list of subjects by what their latest versions say. */
export const CONTENT = {
  identifier: prefix(512)
    .optional()
    .example('lei:529900T8BM49AURSDO55')
    .described(
      '`scheme:value`: those whose latest version has this member of `attributes.identifiers`. However it is written: ' +
        'schemes in either case; values in either case, with or without spaces, hyphens and dots.',
    ),
  q: prefix(128)
    .optional()
    .example('acme')
    .described(
      'How the name begins, in either case: of the latest version the legal name, else the name of the individual. ' +
        'By name in place of by id. `identifier` and `q` are each sent without the other, `subject_id_prefix` and `evidence`.',
    ),
};

interface ContentSent {
  identifier?: string | undefined;
  q?: string | undefined;
}

/**
 * What is searched for, or null for neither. Throws `validation_error` for what can be no identifier, and for two searches
 * in one: `others` are what else a list is searched by.
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
  throw invalidQuery('identifier', 'must be scheme:value, as in lei:529900T8BM49AURSDO55', 'invalid_value');
}

function requireAlone(search: string, others: Readonly<Record<string, string | undefined>>): void {
  const other = Object.keys(others).find((name) => others[name] !== undefined);
  if (other !== undefined) throw invalidQuery(search, `is a search of its own: send it without ${other}`, 'mismatch');
}
