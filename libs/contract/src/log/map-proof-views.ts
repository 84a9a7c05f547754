import { listOf } from '../describe/field';
import { count, oneOf, text, version } from '../describe/fields';
import { part, view, type ViewOf } from '../describe/view';
import { base64, proofHashes } from './log';
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
    'From the leaf up: for each level, the bit at which its children differ, and the hash of the sibling.',
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
const map = MapProofView.described('The proof of the newest number of the stream. [/docs/map](/docs/map) explains it.');

const entry = text.described('The entry as it was hashed: RFC 8785 text.');
const inclusion = proofHashes.described('The proof against the checkpoint of `map`: RFC 6962, section 2.1.1.');

const subject = {
  subject_type: text.described('The namespace of the subject’s id.'),
  subject_id: text.described('The subject’s id.'),
};
const place = count.described('The index of the entry in the log, from 0.');

const LoggedHead = part({ log_index: place, entry, keys: entryKeys, inclusion });

const RecordsView = part({
  look_ups: listOf(LookUpView).described('One for each number. The records of an entry have successive numbers.'),
  entries: listOf(LoggedHead).described('The entries that the look-ups lead to, with all their records.'),
});
const records = RecordsView.optional().described('The proved records of the stream, if `records_from` asked for them.');

/** The proof that a version is the newest one. */
export const LatestProofView = view('LatestProof', {
  ...subject,
  snapshot_version: version.described('The newest version among the first `as_of_size` entries of the log.'),
  as_of_size: count.described('The number of entries of the log among which it is the newest.'),
  head: LoggedHead.described('The entry of that version.'),
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
  records,
  map,
});
export type AbsenceProofView = ViewOf<typeof AbsenceProofView>;

/** The proof that a stream of a tenant has no further number. */
export const TenantAbsenceProofView = view('TenantAbsenceProof', {
  tenant_id: text.described('The tenant in the path.'),
  stream: oneOf(TENANT_ABSENCE_STREAMS).described('The letter of the stream.'),
  number,
  records,
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
