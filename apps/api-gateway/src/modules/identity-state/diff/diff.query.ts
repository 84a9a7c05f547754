import { DIFF_ROOTS, type DiffRoot } from '@iss/domain';
import { matching, oneOf, positive } from '../../../http/request/fields';
import { query, type SentOf } from '../../../http/request/shape';
import { VerifyQuery } from '../snapshot/snapshot.query';

const DEFAULT_INCLUDE = '/subject,/attributes';

const ROOT = `(?:${DIFF_ROOTS.join('|')})`;
const INCLUDE = new RegExp(`^${ROOT}(?:,${ROOT})*$`);

/** Query of a diff between two snapshot ids (specification, "Diff", query parameters). */
export const DiffQuery = query({
  ...VerifyQuery.fields,
  format: oneOf(['rfc6902']).optional().byDefault('rfc6902').described('RFC 6902 operations.'),
  include: matching(INCLUDE, `must be comma-separated roots out of ${DIFF_ROOTS.join(', ')}`)
    .optional()
    .byDefault(DEFAULT_INCLUDE)
    .described('Comma-separated roots: `/subject`, `/attributes`, or `/` for the full envelope.'),
  include_attribution: oneOf(['changed_only', 'none'])
    .optional()
    .byDefault('changed_only')
    .described('`changed_only` adds the evidence for each changed path; `none` omits it.'),
});
export type DiffQuery = SentOf<typeof DiffQuery>;

/** Query of a diff between two versions of a subject. */
export const VersionDiffQuery = query({
  ...DiffQuery.fields,
  from_version: positive({ example: 1 }).described('The "before" state.'),
  to_version: positive({ example: 2 }).described('The "after" state.'),
});
export type VersionDiffQuery = SentOf<typeof VersionDiffQuery>;

/** The roots that a query includes: sorted, each once. */
export function includedRoots(include = DEFAULT_INCLUDE): DiffRoot[] {
  const asked = include.split(',');
  return DIFF_ROOTS.filter((root) => asked.includes(root));
}
