import { CANONICALIZATION_METHOD, envelope, evidenceRef, HASH_ALGORITHM, RULES, type TypeOf } from '@iss/domain';
import { constant, field, listOf } from '../describe/field';
import { anyObject, count, flag, hash, oneOf, SubjectRef, text, version } from '../describe/fields';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from './snapshot-header';
import { part, view } from '../describe/view';
import { answer, reads, type Responses } from '../describe/operation';
import { IdleQuery, LatestQuery, SnapshotQuery, SummaryQuery } from './queries';

export const Envelope = field(envelope);
export const EvidenceRef = field(evidenceRef);

export const ENVELOPE_EXAMPLE = {
  envelope_version: 'entity_state_envelope_v1',
  snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  snapshot_version: 1,
  generated_at: '2026-01-15T09:30:00Z',
  subject: { subject_type: 'organization', subject_id: 'acme-corp' },
  attributes: {
    legal: { legal_name: 'Acme Corporation AG', legal_form: 'AG' },
    jurisdiction: { country: 'CH' },
    identifiers: { lei: '529900T8BM49AURSDO55' },
  },
  evidence: [
    {
      evidence_id: 'ev-1',
      evidence_type: 'registry_extract',
      source: 'commercial register',
      captured_at: '2026-01-15T09:00:00Z',
    },
  ],
  audit: { created_by: 'oidc:dev#alice', created_at: '2026-01-15T09:30:00Z', source: 'onboarding' },
  attribute_paths: {
    '/attributes/legal/legal_name': [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', role: 'primary' }],
  },
} satisfies TypeOf<typeof envelope>;

export const verdict = flag
  .nullable()
  .described('True if the hash or link is valid; null if it was not checked or cannot be compared.');

const { snapshot_id, snapshot_version, generated_at, envelope_hash, prev_hash } = SnapshotHeader.fields;

/** The common fields of verifications of a snapshot and of a diff. */
export const VERIFIED = {
  mode: oneOf(['hash', 'chain']).described('The kind of verification.'),
  chain_supported: flag.described('True if chains can be verified.'),
};

export const VERDICT_OF_HASH = {
  value: hash.nullable().described('The recomputed hash.'),
  stored: hash.nullable().described('The stored hash.'),
  valid: verdict,
};

/** The result of `verify=chain` for the links that were followed; `verify=hash` follows none. */
export const CHAIN_VERDICT = {
  prev_hash,
  valid: verdict.described('True if all followed links are valid. Null if none was followed, or if a hash is missing.'),
  depth: count.described('The number of links that were followed.'),
  complete: verdict.described(
    'True if the links reach version 1. Only then does `valid` cover the whole chain below. Ask with `depth=all`.',
  ),
  erased: listOf(version)
    .optional()
    .described('The erased versions among those checked. Only their links are verified. Absent if there is none.'),
};

const COMPLETE_VERDICT = {
  is_newest: verdict.described(
    'True if no newer version is in the published log. Null if the version itself is not there yet.',
  ),
  newest_version: count.described('The newest version in the published log; 0 if there is none.'),
  as_of_size: count.described('The size of the published log.'),
  log_index: count.nullable().described('The log index of the newest version; null if there is none.'),
};

const Verification = view('Verification', {
  ...VERIFIED,
  mode: oneOf(['hash', 'chain', 'complete']).described('The kind of verification.'),
  hash: part({ alg: text.described('The algorithm of the hash.'), ...VERDICT_OF_HASH }).described(
    'The verification of the envelope hash.',
  ),
  chain: part(CHAIN_VERDICT).described('The verification of the parents.'),
  complete: part(COMPLETE_VERDICT)
    .optional()
    .described(
      'Only with `verify=complete`: the newest version by the map of the log. It is the service’s own check; ' +
        '`…/latest-proof` proves it.',
    ),
});

export const VERIFICATION = 'The result of the verification. Absent with `verify=none`.';

/** The part of an envelope that the paths of a grant show. */
const PartialEnvelope = view('PartialEnvelope', {
  envelope_version: text.described('The version of the envelope’s format.'),
  snapshot_id,
  snapshot_version,
  generated_at,
  subject: SubjectRef,
  attributes: anyObject.described('The attributes at and below `disclosed_paths`.'),
  evidence: listOf(anyObject).described('The evidence of the shown attributes.'),
  attribute_paths: anyObject.optional().described('The attribution at, below and above the shown attributes.'),
});

const disclosedPaths = listOf(text)
  .optional()
  .described(
    'The JSON Pointers at and below which the grant shows values. Other values may exist; they are hidden, not absent.',
  );

/** The members of an answer to a reader whose grant has paths. */
export const PARTIAL = {
  partial: flag.optional().described('True if a grant with `paths` shows only a part. Otherwise absent.'),
  disclosed_paths: disclosedPaths,
};

const View = view('View', {
  payload: anyObject.described(
    'The claims set of a recursive SD-JWT (RFC 9901). The log entry of the version has the SHA-256 of its RFC 8785 ' +
      'text as `view_hash`.',
  ),
  disclosures: listOf(text).described('The disclosures of the shown values (RFC 9901, section 4.2).'),
});

/** A header with the stored envelope. */
export const Snapshot = view('Snapshot', {
  ...SnapshotHeader.fields,
  envelope: Envelope.asText()
    .shownAs({ anyOf: [Envelope.facts.shown, PartialEnvelope.facts.shown] })
    .optional()
    .described(
      'The envelope as it is stored, or the part that the grant shows: `envelope_hash` cannot be recomputed from a ' +
        'part. Absent with `view=header`, and for an erased version.',
    ),
  ...PARTIAL,
  changed: flag
    .optional()
    .described('In lists and exports, if `partial`: false if the shown part equals that of the previous version.'),
  view: View.optional().described(
    'Present only if `partial`. The view and the log prove the shown part without the hidden values.',
  ),
  verification: Verification.optional().described(VERIFICATION),
});

const SubjectState = view('SubjectState', {
  subject: SubjectRef,
  current_snapshot: part({ snapshot_id, snapshot_version, generated_at, hash: envelope_hash, prev_hash }).described(
    'The header of the latest snapshot.',
  ),
  identity: anyObject.described('The `attributes` of the latest snapshot.'),
  provenance: part({
    evidence_count: count.described('The number of evidence items.'),
    has_attribute_paths: flag.described('True if the envelope says which evidence supports which attribute.'),
    has_audit: flag.described('True if the envelope says who wrote it.'),
  }).described('The sources of the attributes.'),
  ...PARTIAL,
  verification: Verification.optional().described(VERIFICATION),
});

/** How hashes are computed. */
export const METHODS = {
  canonicalization_method: constant(CANONICALIZATION_METHOD).described(
    'The method that turns an envelope into the text that is hashed.',
  ),
  hash_algorithm: constant(HASH_ALGORITHM).described('The hash algorithm.'),
};

/** The hashes of a snapshot without its content (specification, "Snapshot reads"). */
export const SnapshotProof = view('SnapshotProof', {
  snapshot_id,
  ...SubjectRef.fields,
  snapshot_version,
  envelope_hash,
  prev_hash,
  erased: SnapshotHeader.fields.erased,
  ...METHODS,
});

export const SNAPSHOT_EXAMPLE = { ...SNAPSHOT_HEADER_EXAMPLE, envelope: ENVELOPE_EXAMPLE };

const { subject, envelope_hash: valueOfHash, ...header } = SNAPSHOT_HEADER_EXAMPLE;

const HEAD = { snapshot_id: header.snapshot_id, snapshot_version: header.snapshot_version };

/** The responses of reads of one snapshot. */
const READS = {
  snapshot: answer('The snapshot.', Snapshot, SNAPSHOT_EXAMPLE),
  summary: answer('The current state of the subject.', SubjectState, {
    subject,
    current_snapshot: { ...HEAD, generated_at: header.generated_at, hash: valueOfHash, prev_hash: header.prev_hash },
    provenance: { evidence_count: 1, has_attribute_paths: true, has_audit: true },
    identity: ENVELOPE_EXAMPLE.attributes,
  }),
  proof: answer('The hashes of the snapshot and how they were computed.', SnapshotProof, {
    snapshot_id: header.snapshot_id,
    ...subject,
    snapshot_version: header.snapshot_version,
    envelope_hash: valueOfHash,
    prev_hash: header.prev_hash,
    canonicalization_method: CANONICALIZATION_METHOD,
    hash_algorithm: HASH_ALGORITHM,
  }),
};

/** Documents a read of one snapshot. */
function readOf(shown: keyof typeof READS): Responses {
  const etag = `"${valueOfHash}.${shown === 'snapshot' ? 'full' : shown}"`;
  return {
    answers: { 200: READS[shown] },
    etag,
    errors: shown === 'proof' ? ['not_found'] : ['not_found', 'not_logged_yet', 'erased', 'damaged'],
  };
}

export const SNAPSHOTS = reads('Snapshot reads', {
  getSubject: {
    path: '/subjects/{subject_type}/{subject_id}',
    summary: "Read a subject's current state",
    who: RULES.readLatest,
    query: SummaryQuery,
    ...readOf('summary'),
  },
  getLatestSnapshot: {
    path: '/subjects/{subject_type}/{subject_id}/snapshots/latest',
    summary: "Read a subject's latest snapshot",
    who: RULES.readLatest,
    query: LatestQuery,
    ...readOf('snapshot'),
  },
  getSnapshotVersion: {
    path: '/subjects/{subject_type}/{subject_id}/snapshots/{snapshot_version}',
    summary: 'Read one version of a subject',
    who: RULES.readVersion,
    query: SnapshotQuery,
    ...readOf('snapshot'),
  },
  getSnapshot: {
    path: '/snapshots/{snapshot_id}',
    summary: 'Read a snapshot by id',
    who: RULES.readById,
    query: SnapshotQuery,
    ...readOf('snapshot'),
  },
  getSnapshotProof: {
    path: '/snapshots/{snapshot_id}/proof',
    summary: "Read a snapshot's hashes",
    who: RULES.readById,
    query: IdleQuery,
    ...readOf('proof'),
  },
});
