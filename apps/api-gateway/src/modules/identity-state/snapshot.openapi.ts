import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiResponse } from '@nestjs/swagger';
import {
  ApiAnswer,
  ApiErrors,
  ApiSubjectParams,
  ApiTenantParam,
  HASH,
  named,
  object,
  type Schema,
  SUBJECT_TYPE,
  TIMESTAMP,
  UUID,
} from '../../http/openapi';
import { SNAPSHOT_HEADER_EXAMPLE, SNAPSHOT_HEADER_FIELDS } from '../../http/snapshot-header.view';

const TEXT: Schema = { type: 'string' };

const EVIDENCE: Schema = object(
  {
    evidence_id: TEXT,
    evidence_type: TEXT,
    source: TEXT,
    captured_at: TIMESTAMP,
    retrieved_at: TIMESTAMP,
    hash: object({ alg: TEXT, value: TEXT }),
    locator: TEXT,
    notes: TEXT,
  },
  ['retrieved_at', 'hash', 'locator', 'notes'],
);

const AUDIT: Schema = object(
  { created_by: TEXT, created_at: TIMESTAMP, source: TEXT, request_id: TEXT, correlation_id: TEXT },
  ['request_id', 'correlation_id'],
);

export const ENVELOPE_SCHEMA: Schema = named(
  'Envelope',
  object(
    {
      envelope_version: { type: 'string', const: 'entity_state_envelope_v1' },
      snapshot_id: UUID,
      snapshot_version: { type: 'integer', minimum: 1 },
      generated_at: TIMESTAMP,
      subject: object({ subject_type: SUBJECT_TYPE, subject_id: { type: 'string', minLength: 1, maxLength: 512 } }),
      attributes: { type: 'object', additionalProperties: true },
      evidence: { type: 'array', items: EVIDENCE },
      audit: AUDIT,
      attribute_paths: {
        type: 'object',
        additionalProperties: {
          type: 'array',
          items: object(
            {
              evidence_id: TEXT,
              evidence_type: TEXT,
              role: { type: 'string', enum: ['primary', 'corroborating', 'conflicting'] },
            },
            ['role'],
          ),
        },
      },
      diff: object({ format: { type: 'string', const: 'rfc6902' }, ops: { type: 'array', items: { type: 'object' } } }),
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

const VERDICT: Schema = { type: ['boolean', 'null'] };

export const VERIFICATION: Schema = named(
  'Verification',
  object({
    mode: { type: 'string', enum: ['hash', 'chain'] },
    chain_supported: { type: 'boolean' },
    hash: object({ alg: TEXT, value: HASH, stored: HASH, valid: VERDICT }),
    chain: object({ prev_hash: HASH, valid: VERDICT, depth: { type: ['integer', 'null'] } }),
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

/** Documents a read of one snapshot. */
export function ApiSnapshotAnswers(path: { subject: boolean; tenant: boolean }): MethodDecorator {
  return applyDecorators(
    ...(path.tenant ? [ApiTenantParam()] : []),
    ...(path.subject ? [ApiSubjectParams()] : []),
    ApiAnswer(200, 'The snapshot.', SNAPSHOT_SCHEMA, SNAPSHOT_EXAMPLE),
    ApiResponse({ status: 304, description: 'Unchanged: `If-None-Match` names the current `ETag`.' }),
    ApiErrors('validation_error', 'unauthorized', ...(path.tenant ? (['forbidden'] as const) : []), 'not_found'),
  );
}

/** Documents the direct write. */
export function ApiEntityStateWrite(): MethodDecorator {
  return applyDecorators(
    ApiTenantParam(),
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
