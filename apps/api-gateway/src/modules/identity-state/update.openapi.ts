import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import {
  ApiAnswer,
  ApiErrors,
  ApiSubjectParams,
  ApiTenantParam,
  HASH,
  object,
  type Schema,
  SUBJECT_TYPE,
  TIMESTAMP,
  UUID,
} from '../../http/openapi';
import { ENVELOPE_EXAMPLE, ENVELOPE_SCHEMA } from './snapshot.openapi';

const TEXT: Schema = { type: 'string' };
const OPTIONAL_TEXT: Schema = { type: ['string', 'null'] };

const PATCH_EXAMPLE = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }];

export const UPDATE_SCHEMA: Schema = object({
  update_id: UUID,
  subject_type: SUBJECT_TYPE,
  subject_id: TEXT,
  base_snapshot_id: UUID,
  base_snapshot_version: { type: 'integer', minimum: 1 },
  patch_ops: { type: 'array', items: { type: 'object' } },
  status: { type: 'string', enum: ['proposed', 'applied', 'withdrawn'] },
  request_id: OPTIONAL_TEXT,
  initiated_by: OPTIONAL_TEXT,
  proposed_by: TEXT,
  created_at: TIMESTAMP,
  applied_at: { type: ['string', 'null'], format: 'date-time' },
  applied_snapshot_id: { type: ['string', 'null'], format: 'uuid' },
});

const UPDATE_EXAMPLE = {
  update_id: '0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2',
  subject_type: 'organization',
  subject_id: 'acme-corp',
  base_snapshot_id: ENVELOPE_EXAMPLE.snapshot_id,
  base_snapshot_version: 1,
  patch_ops: PATCH_EXAMPLE,
  status: 'proposed',
  request_id: 'req-0001',
  initiated_by: null,
  proposed_by: 'oidc:dev#alice',
  created_at: '2026-01-16T08:00:00.000Z',
  applied_at: null,
  applied_snapshot_id: null,
};

type Family = 'tenant' | 'subject';

/** Documents a proposal in either path family. */
export function ApiUpdatePropose(family: Family, body: Type<object>): MethodDecorator {
  const common = {
    base_snapshot_version: 1,
    patch_ops: PATCH_EXAMPLE,
    request_id: 'req-0001',
    subject_id: 'acme-corp',
  };
  const example =
    family === 'subject'
      ? common
      : { ...common, subject_type: 'organization', base_snapshot_id: ENVELOPE_EXAMPLE.snapshot_id };
  return applyDecorators(
    ApiTenantParam(),
    ...(family === 'subject' ? [ApiSubjectParams()] : []),
    ApiBody({ type: body, examples: { rename: { summary: 'Change the legal name', value: example } } }),
    ApiAnswer(201, 'The proposal; nothing is changed yet.', UPDATE_SCHEMA, UPDATE_EXAMPLE),
    ApiAnswer(200, 'The proposal stored earlier under the same request_id.', UPDATE_SCHEMA, UPDATE_EXAMPLE),
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

/** Documents applying a proposal in either path family. */
export function ApiUpdateApply(family: Family): MethodDecorator {
  const answer =
    family === 'tenant'
      ? ApiAnswer(201, 'The envelope of the new snapshot.', ENVELOPE_SCHEMA, {
          ...ENVELOPE_EXAMPLE,
          snapshot_version: 2,
        })
      : ApiAnswer(
          200,
          'The new snapshot.',
          object({ snapshot_id: UUID, snapshot_version: { type: 'integer' }, envelope_hash: HASH, prev_hash: HASH }),
          {
            snapshot_id: '8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e',
            snapshot_version: 2,
            envelope_hash: '1f2e3d4c5b6a79880f1e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c4b5a6978',
            prev_hash: 'b1a0c7f5d7a3c5a7c7d3a9a4ec0f8f9fb7f6dc2d1d0f0b8e3d9a5d0c4b1f2e3a',
          },
        );
  return applyDecorators(
    ApiTenantParam(),
    ...(family === 'subject' ? [ApiSubjectParams()] : []),
    ApiParam({ name: 'update_id', schema: { type: 'string', format: 'uuid' }, example: UPDATE_EXAMPLE.update_id }),
    answer,
    ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict'),
  );
}
