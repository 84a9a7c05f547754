import { RULES } from '@iss/domain';
import { listOf } from '../describe/field';
import { count, logWait, oneOf, positive, text, version } from '../describe/fields';
import { answer, operations } from '../describe/operation';
import { query, type SentOf } from '../describe/shape';
import { part, view, type ViewOf } from '../describe/view';
import { base64, proofHashes } from './log';
import { ABSENCE_EXAMPLE, GRANT_STATE_EXAMPLE, LATEST_EXAMPLE, TENANT_ABSENCE_EXAMPLE } from './map-examples';
import { entryKeys } from './log-proofs';

/** The streams of a subject whose end can be proved. */
export const ABSENCE_STREAMS = ['v', 'a', 'p', 'r'] as const;
export type AbsenceStream = (typeof ABSENCE_STREAMS)[number];

/** The streams of a tenant whose end can be proved. */
export const TENANT_ABSENCE_STREAMS = ['d', 'o', 'p', 'w'] as const;
export type TenantAbsenceStream = (typeof TENANT_ABSENCE_STREAMS)[number];

const MapRootView = part({
  log_index: count.described('The last entry of the log that the checkpoint covers.'),
  entry: text.described('The text of that entry, which is its leaf: RFC 8785.'),
  inclusion: proofHashes.described('RFC 6962, section 2.1.1; each hash in base64.'),
});

const LookUpView = part({
  number: count.described('The number that is looked up: 1, 2, 4 … until one is absent, then halving.'),
  vrf_proof: base64.described('C2SP vrf-r255: 80 bytes. The first 32 bytes of its output are the key of the number.'),
  log_indexes: listOf(count).described('The entries that carry the key; empty if it is not in the map.'),
  path: base64.described(
    'From the leaf up: for each level, the bit at which its children differ, and the hash beside.',
  ),
  other: part({
    key: base64.described('Its key: 32 bytes.'),
    value: base64.described('The RFC 6962 root of the list of its log indexes.'),
  })
    .nullable()
    .described('The leaf to which the bits of an absent key lead; null for a present key and in the empty map.'),
});

const MapProofView = view('MapProof', {
  checkpoint: text.described('The signed note of the published log (C2SP tlog-checkpoint).'),
  map_root: MapRootView.described('The root of the map, the last entry that the checkpoint covers.'),
  look_ups: listOf(LookUpView).described('They prove the newest number of the stream.'),
});
const map = MapProofView.described('The proof of the newest number of the stream (docs/log.md).');

const entry = text.described('The entry as it was hashed: RFC 8785 text.');
const inclusion = proofHashes.described('The proof against the checkpoint of `map`: RFC 6962, section 2.1.1.');

const subject = {
  subject_type: text.described('The namespace of the subject’s id.'),
  subject_id: text.described('The subject’s id.'),
};
const place = count.described('The index of the entry in the log, from 0.');

/** The proof that a version is the newest one. */
export const LatestProofView = view('LatestProof', {
  ...subject,
  snapshot_version: version.described('The newest version among the first `as_of_size` entries of the log.'),
  as_of_size: count.described('The number of entries of the log among which it is the newest.'),
  head: part({ log_index: place, entry, keys: entryKeys, inclusion }).described('The entry of that version.'),
  map,
});
export type LatestProofView = ViewOf<typeof LatestProofView>;

const number = count.described('The first number that the stream does not have.');

/** The proof that a stream of a subject has no further number. */
export const AbsenceProofView = view('AbsenceProof', {
  tenant_id: text.described('The tenant in the path: for `p`, the one to which no further grant was made.'),
  ...subject,
  stream: oneOf(ABSENCE_STREAMS).described('The letter of the stream.'),
  number,
  map,
});
export type AbsenceProofView = ViewOf<typeof AbsenceProofView>;

/** The proof that a stream of a tenant has no further number. */
export const TenantAbsenceProofView = view('TenantAbsenceProof', {
  tenant_id: text.described('The tenant in the path.'),
  stream: oneOf(TENANT_ABSENCE_STREAMS).described('The letter of the stream.'),
  number,
  map,
});
export type TenantAbsenceProofView = ViewOf<typeof TenantAbsenceProofView>;

/** The states of a grant by the fact that made them. */
export const GRANT_STATES = { created: 'live', changed: 'changed', revoked: 'revoked' } as const;

/** The proof of the newest state of a grant. */
export const GrantStateProofView = view('GrantStateProof', {
  grant_id: text.described('The grant.'),
  state: oneOf(['live', 'changed', 'revoked']).described(
    '`live`: nothing happened since the grant was created. Compare `expires_at` of the entry with the clock.',
  ),
  number: count.described('The number of events of the grant.'),
  log_index: place,
  entry,
  keys: entryKeys,
  inclusion,
  map,
});
export type GrantStateProofView = ViewOf<typeof GrantStateProofView>;

const wait = logWait.described('Seconds to wait for a fact that is not in the published log yet.');

export const LatestProofQuery = query({
  as_of_size: positive({ example: 6 })
    .optional()
    .described('Asks for the newest version among the first entries of the log. Defaults to all published ones.'),
  wait,
});
export type LatestProofQuery = SentOf<typeof LatestProofQuery>;

export const AbsenceQuery = query({
  stream: oneOf(ABSENCE_STREAMS)
    .example('v')
    .described(
      '`v`: versions (for tenants that may write the subject). `a`: changes of access (for the owner). `p`: grants of the ' +
        'subject to the tenant in the path; the answer does not tell whether the subject exists. `r`: disclosures (for the owner).',
    ),
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
