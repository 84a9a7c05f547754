import { applyDecorators } from '@nestjs/common';
import { CANONICALIZATION_METHOD, HASH_ALGORITHM } from '@iss/domain';
import { ApiBody } from '@nestjs/swagger';
import {
  ApiAnswer,
  ApiConditional,
  ApiErrors,
  ApiPathParam,
  ApiSnapshotParam,
  ApiSubjectParams,
  ApiTenantParam,
  HASH,
  named,
  object,
  type Schema,
  SUBJECT_ID,
  SUBJECT_REF,
  SUBJECT_TYPE,
  TIMESTAMP,
  UUID,
} from '../../../http/describe/openapi';
import { SNAPSHOT_HEADER_EXAMPLE, SNAPSHOT_HEADER_FIELDS } from '../../../http/answer/snapshot-header.view';

const TEXT: Schema = { type: 'string' };

/** Every object of an envelope may have members of its writer's own. */
const openObject = (...fields: Parameters<typeof object>): Schema => ({
  ...object(...fields),
  additionalProperties: true,
});

const EVIDENCE: Schema = named(
  'Evidence',
  openObject(
    {
      evidence_id: TEXT,
      evidence_type: TEXT,
      source: TEXT,
      captured_at: TIMESTAMP,
      retrieved_at: TIMESTAMP,
      hash: openObject({ alg: TEXT, value: TEXT }),
      locator: TEXT,
      notes: TEXT,
    },
    ['retrieved_at', 'hash', 'locator', 'notes'],
  ),
);

export const EVIDENCE_REF: Schema = named(
  'EvidenceRef',
  openObject(
    {
      evidence_id: TEXT,
      evidence_type: TEXT,
      role: { type: 'string', enum: ['primary', 'corroborating', 'conflicting'] },
    },
    ['role'],
  ),
);

const AUDIT: Schema = named(
  'Audit',
  openObject({ created_by: TEXT, created_at: TIMESTAMP, source: TEXT, request_id: TEXT, correlation_id: TEXT }, [
    'request_id',
    'correlation_id',
  ]),
);

export const PATCH_OPERATION: Schema = named(
  'PatchOperation',
  openObject(
    {
      op: { type: 'string', enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: { ...TEXT, description: 'RFC 6901 JSON Pointer into the envelope.' },
      from: { ...TEXT, description: 'For `move` and `copy`.' },
      value: { description: 'For `add`, `replace` and `test`: any JSON.' },
    },
    ['from', 'value'],
  ),
);

export const ENVELOPE_SCHEMA: Schema = named(
  'Envelope',
  openObject(
    {
      envelope_version: { type: 'string', const: 'entity_state_envelope_v1' },
      snapshot_id: UUID,
      snapshot_version: { type: 'integer', minimum: 1 },
      generated_at: TIMESTAMP,
      subject: openObject({ subject_type: SUBJECT_TYPE, subject_id: SUBJECT_ID }),
      attributes: { type: 'object', additionalProperties: true },
      evidence: { type: 'array', items: EVIDENCE },
      audit: AUDIT,
      attribute_paths: {
        type: 'object',
        additionalProperties: {
          type: 'array',
          items: EVIDENCE_REF,
        },
      },
      diff: openObject({
        format: { type: 'string', const: 'rfc6902' },
        ops: { type: 'array', items: PATCH_OPERATION },
      }),
    },
    ['attribute_paths', 'diff'],
  ),
);

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
};

export const VERDICT: Schema = { type: ['boolean', 'null'] };

export const VERIFICATION: Schema = named(
  'Verification',
  object({
    mode: { type: 'string', enum: ['hash', 'chain'] },
    chain_supported: { type: 'boolean' },
    hash: object({ alg: TEXT, value: HASH, stored: HASH, valid: VERDICT }),
    chain: object({ prev_hash: HASH, valid: VERDICT, depth: { type: 'integer', minimum: 0 } }),
  }),
);

export const SNAPSHOT_SCHEMA: Schema = named(
  'Snapshot',
  object({ ...SNAPSHOT_HEADER_FIELDS, envelope: ENVELOPE_SCHEMA, verification: VERIFICATION }, [
    'envelope',
    'verification',
  ]),
);

export const SNAPSHOT_EXAMPLE = { ...SNAPSHOT_HEADER_EXAMPLE, envelope: ENVELOPE_EXAMPLE };

const SUMMARY_SCHEMA: Schema = named(
  'SubjectState',
  object(
    {
      subject: SUBJECT_REF,
      current_snapshot: object({
        snapshot_id: UUID,
        snapshot_version: { type: 'integer', minimum: 1 },
        generated_at: TIMESTAMP,
        hash: HASH,
        prev_hash: HASH,
      }),
      identity: { type: 'object', additionalProperties: true, description: 'The `attributes` of the latest snapshot.' },
      provenance: object({
        evidence_count: { type: 'integer', minimum: 0 },
        has_attribute_paths: { type: 'boolean' },
        has_audit: { type: 'boolean' },
      }),
      verification: VERIFICATION,
    },
    ['verification'],
  ),
);

const { snapshot_id, snapshot_version, generated_at, envelope_hash, prev_hash, subject } = SNAPSHOT_HEADER_EXAMPLE;

const SUMMARY_EXAMPLE = {
  subject,
  current_snapshot: { snapshot_id, snapshot_version, generated_at, hash: envelope_hash, prev_hash },
  provenance: { evidence_count: 1, has_attribute_paths: true, has_audit: true },
  identity: ENVELOPE_EXAMPLE.attributes,
};

const PROOF_SCHEMA: Schema = named(
  'SnapshotProof',
  object({
    snapshot_id: UUID,
    subject_type: SUBJECT_TYPE,
    subject_id: TEXT,
    snapshot_version: { type: 'integer', minimum: 1 },
    envelope_hash: HASH,
    prev_hash: HASH,
    canonicalization_method: { type: 'string', const: CANONICALIZATION_METHOD },
    hash_algorithm: { type: 'string', const: HASH_ALGORITHM },
  }),
);

const PROOF_EXAMPLE = {
  snapshot_id,
  ...subject,
  snapshot_version,
  envelope_hash,
  prev_hash,
  canonicalization_method: CANONICALIZATION_METHOD,
  hash_algorithm: HASH_ALGORITHM,
};

/** How a read of one snapshot names it. */
const PATHS = {
  latest: [ApiSubjectParams()],
  version: [
    ApiSubjectParams(),
    ApiPathParam('snapshot_version', 'A version of the subject.', { type: 'integer', minimum: 1 }, snapshot_version),
  ],
  id: [ApiSnapshotParam(snapshot_id)],
};

/** Documents a read of one snapshot: by what it is named, in which form, and what is shown of it. */
export function ApiSnapshotRead(
  by: keyof typeof PATHS,
  form: 'tenant' | 'global',
  shown: 'snapshot' | 'summary' | 'proof' = 'snapshot',
): MethodDecorator {
  const shows = {
    snapshot: [ApiAnswer(200, 'The snapshot.', SNAPSHOT_SCHEMA, SNAPSHOT_EXAMPLE)],
    summary: [ApiAnswer(200, 'The current state of the subject.', SUMMARY_SCHEMA, SUMMARY_EXAMPLE)],
    proof: [ApiAnswer(200, 'The hashes of the snapshot, and how they were made.', PROOF_SCHEMA, PROOF_EXAMPLE)],
  };
  return applyDecorators(
    ...(form === 'tenant' ? [ApiTenantParam()] : []),
    ...PATHS[by],
    ...shows[shown],
    ApiConditional(`"${envelope_hash}.${shown === 'snapshot' ? 'full' : shown}"`),
    ApiErrors('validation_error', 'unauthorized', ...(form === 'tenant' ? (['forbidden'] as const) : []), 'not_found'),
  );
}

/** Documents the direct write, beside its path. */
export function ApiEntityStateWrite(): MethodDecorator {
  return applyDecorators(
    ApiBody({ schema: ENVELOPE_SCHEMA, examples: { first: { summary: 'A first snapshot', value: ENVELOPE_EXAMPLE } } }),
    ApiAnswer(201, 'The stored snapshot.', SNAPSHOT_SCHEMA, SNAPSHOT_EXAMPLE),
    ApiErrors(
      'validation_error',
      'unauthorized',
      'forbidden',
      'conflict',
      'payload_too_large',
      'unsupported_media_type',
    ),
  );
}
