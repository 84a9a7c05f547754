import {
  CANONICALIZATION_METHOD,
  envelope,
  evidenceRef,
  HASH_ALGORITHM,
  patchOperation,
  type TypeOf,
} from '@iss/domain';
import { ApiBody } from '@nestjs/swagger';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../../../http/answer/snapshot-header.view';
import { constant, field } from '../../../http/describe/field';
import { answer, type Route } from '../../../http/describe/openapi';
import { part, view } from '../../../http/describe/view';
import { anyObject, count, flag, hash, oneOf, SubjectRef, text } from '../../../http/request/fields';

export const Envelope = field(envelope);
export const EvidenceRef = field(evidenceRef);
export const PatchOperation = field(patchOperation);

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

export const verdict = flag.nullable();

const { snapshot_id, snapshot_version, generated_at, envelope_hash, prev_hash } = SnapshotHeader.fields;

/** What `verify=chain` says of the links that it followed; `verify=hash` follows none. */
export const CHAIN_VERDICT = {
  prev_hash,
  valid: verdict.described('Of the links that were followed. Null where none were looked at, or a hash is missing.'),
  depth: count.described('How many links were followed.'),
  complete: verdict.described(
    'Whether they reach version 1: only then is `valid` the verdict on the whole chain below. Ask with `depth=all`.',
  ),
};

const Verification = view('Verification', {
  mode: oneOf(['hash', 'chain']),
  chain_supported: flag,
  hash: part({ alg: text, value: hash.nullable(), stored: hash.nullable(), valid: verdict }),
  chain: part(CHAIN_VERDICT),
});

/** A header with the envelope as it is stored. */
export const Snapshot = view('Snapshot', {
  ...SnapshotHeader.fields,
  envelope: Envelope.asText().optional(),
  verification: Verification.optional(),
});

const SubjectState = view('SubjectState', {
  subject: SubjectRef,
  current_snapshot: part({ snapshot_id, snapshot_version, generated_at, hash: envelope_hash, prev_hash }),
  identity: anyObject.described('The `attributes` of the latest snapshot.'),
  provenance: part({ evidence_count: count, has_attribute_paths: flag, has_audit: flag }),
  verification: Verification.optional(),
});

/** What proves a snapshot without its content (specification, "Snapshot reads"). */
export const SnapshotProof = view('SnapshotProof', {
  snapshot_id,
  ...SubjectRef.fields,
  snapshot_version,
  envelope_hash,
  prev_hash,
  canonicalization_method: constant(CANONICALIZATION_METHOD),
  hash_algorithm: constant(HASH_ALGORITHM),
});

export const SNAPSHOT_EXAMPLE = { ...SNAPSHOT_HEADER_EXAMPLE, envelope: ENVELOPE_EXAMPLE };

const { subject, envelope_hash: valueOfHash, ...header } = SNAPSHOT_HEADER_EXAMPLE;
const HEAD = { snapshot_id: header.snapshot_id, snapshot_version: header.snapshot_version };

/** What a read of one snapshot answers. */
const READS = {
  snapshot: answer('The snapshot.', Snapshot, SNAPSHOT_EXAMPLE),
  summary: answer('The current state of the subject.', SubjectState, {
    subject,
    current_snapshot: { ...HEAD, generated_at: header.generated_at, hash: valueOfHash, prev_hash: header.prev_hash },
    provenance: { evidence_count: 1, has_attribute_paths: true, has_audit: true },
    identity: ENVELOPE_EXAMPLE.attributes,
  }),
  proof: answer('The hashes of the snapshot, and how they were made.', SnapshotProof, {
    snapshot_id: header.snapshot_id,
    ...subject,
    snapshot_version: header.snapshot_version,
    envelope_hash: valueOfHash,
    prev_hash: header.prev_hash,
    canonicalization_method: CANONICALIZATION_METHOD,
    hash_algorithm: HASH_ALGORITHM,
  }),
};

/** What there is to say of a read of one snapshot. */
export function readOf(shown: keyof typeof READS): Route {
  const etag = `"${valueOfHash}.${shown === 'snapshot' ? 'full' : shown}"`;
  return { answers: { 200: READS[shown] }, etag, errors: ['not_found'] };
}

/** The answer of a direct write. */
export const WRITTEN = { 201: answer('The stored snapshot.', Snapshot, SNAPSHOT_EXAMPLE) };

/** The answer of a read by the legacy path. */
export const STORED = { 200: answer('The envelope as it is stored.', Envelope, ENVELOPE_EXAMPLE) };

/** Documents the body of a direct write, which is taken as it is. */
export const ApiEnvelopeBody = (): MethodDecorator =>
  ApiBody({
    schema: { ...envelope.schema },
    examples: { first: { summary: 'A first snapshot', value: ENVELOPE_EXAMPLE } },
  });
