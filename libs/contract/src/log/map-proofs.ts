import { RULES } from '@iss/domain';
import { logWait, oneOf, positive, wholeFrom } from '../describe/fields';
import { answer, operations } from '../describe/operation';
import { query, type SentOf } from '../describe/shape';
import { ABSENCE_EXAMPLE, GRANT_STATE_EXAMPLE, LATEST_EXAMPLE, TENANT_ABSENCE_EXAMPLE } from './map-examples';
import {
  ABSENCE_STREAMS,
  AbsenceProofView,
  GrantStateProofView,
  LatestProofView,
  TENANT_ABSENCE_STREAMS,
  TenantAbsenceProofView,
} from './map-proof-views';

const recordsFrom = wholeFrom(0, 2_147_483_647, 0)
  .optional()
  .described(
    'For `d` and `r`: adds the proved `records` from this number on, or from the first one of the same entry. Continue after the ' +
      'last one that was shown. 0: no records.',
  );

const wait = logWait.described('Seconds to wait for a fact that is not in the published log yet.');

export const LatestProofQuery = query({
  as_of_size: positive({ example: 6 })
    .optional()
    .described(
      'The number of entries, from the first one on, among which the version is the newest. Defaults to all published entries.',
    ),
  wait,
});
export type LatestProofQuery = SentOf<typeof LatestProofQuery>;

export const AbsenceQuery = query({
  stream: oneOf(ABSENCE_STREAMS)
    .example('v')
    .described(
      '`v`: versions (for tenants that may write the subject). `a`: changes of access (for the owner). `p`: grants of the ' +
        'subject to the tenant in the path. They do not tell whether the subject exists. `r`: disclosures (for the owner).',
    ),
  records_from: recordsFrom,
  wait,
});
export type AbsenceQuery = SentOf<typeof AbsenceQuery>;

export const TenantAbsenceQuery = query({
  stream: oneOf(TENANT_ABSENCE_STREAMS)
    .example('w')
    .described(
      '`d`: audit records (tenant_admin). `o`: owners (tenant_reader). `p`: grants to the tenant on all subjects of an owner ' +
        '(tenant_reader). `w`: grants of the tenant on all its subjects (tenant_admin).',
    ),
  records_from: recordsFrom,
  wait,
});
export type TenantAbsenceQuery = SentOf<typeof TenantAbsenceQuery>;

export const StateProofQuery = query({ wait });
export type StateProofQuery = SentOf<typeof StateProofQuery>;

const DESCRIPTION =
  'The map over the log proves what is newest. A fact is published a second or two after it is written; until then, ' +
  '404 `not_logged_yet` with `Retry-After`. See [/docs/map](/docs/map).';
const ERRORS = ['not_found', 'not_logged_yet', 'unavailable'] as const;

export const MAP_PROOFS = operations('Transparency log', '/v1/tenants/{tenant_id}', {
  getLatestProof: {
    route: 'GET /subjects/{subject_type}/{subject_id}/latest-proof',
    summary: 'Prove which version of a subject is the newest in the transparency log',
    who: RULES.readLatest,
    query: LatestProofQuery,
    description: DESCRIPTION,
    answers: { 200: answer('The proof, against the published checkpoint.', LatestProofView, LATEST_EXAMPLE) },
    errors: [...ERRORS, 'erased'],
  },
  getAbsenceProof: {
    route: 'GET /subjects/{subject_type}/{subject_id}/absence-proof',
    summary: 'Prove how many versions, grants or disclosures of a subject the transparency log has',
    who: RULES.readTenant,
    query: AbsenceQuery,
    description: DESCRIPTION,
    answers: { 200: answer('The proof, against the published checkpoint.', AbsenceProofView, ABSENCE_EXAMPLE) },
    errors: ERRORS,
  },
  getTenantAbsenceProof: {
    route: 'GET /absence-proof',
    summary: 'Prove how many audit records, owners or grants of a tenant the transparency log has',
    who: RULES.readTenant,
    query: TenantAbsenceQuery,
    description: DESCRIPTION,
    answers: {
      200: answer('The proof, against the published checkpoint.', TenantAbsenceProofView, TENANT_ABSENCE_EXAMPLE),
    },
    errors: ERRORS,
  },
  getGrantStateProof: {
    route: 'GET /grants/{grant_id}/state-proof',
    summary: 'Prove whether a grant was changed or revoked',
    who: RULES.readGrants,
    query: StateProofQuery,
    description: DESCRIPTION,
    answers: { 200: answer('The proof, against the published checkpoint.', GrantStateProofView, GRANT_STATE_EXAMPLE) },
    errors: ERRORS,
  },
});
