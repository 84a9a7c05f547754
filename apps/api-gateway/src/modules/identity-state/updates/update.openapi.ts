import { UPDATE_STATUSES } from '@iss/domain';
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import {
  ApiAnswer,
  ApiErrors,
  ApiPathParam,
  ApiSubjectParams,
  ApiTenantParam,
  HASH,
  named,
  object,
  type Schema,
  SUBJECT_TYPE,
  TIMESTAMP,
  UUID,
} from '../../../http/describe/openapi';
import { listExample, listSchema } from '../../../http/lists/paging';
import { SNAPSHOT_HEADER_EXAMPLE } from '../../../http/answer/snapshot-header.view';
import { ENVELOPE_EXAMPLE, ENVELOPE_SCHEMA, PATCH_OPERATION } from '../snapshot/snapshot.openapi';

const TEXT: Schema = { type: 'string' };
const OPTIONAL_TEXT: Schema = { type: ['string', 'null'] };
const OPTIONAL_TIMESTAMP: Schema = { type: ['string', 'null'], format: 'date-time' };

const PATCH_EXAMPLE = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }];

const UPDATE_SCHEMA: Schema = named(
  'Update',
  object({
    update_id: UUID,
    subject_type: SUBJECT_TYPE,
    subject_id: TEXT,
    base_snapshot_id: UUID,
    base_snapshot_version: { type: 'integer', minimum: 1 },
    patch_ops: { type: 'array', items: PATCH_OPERATION },
    status: { type: 'string', enum: UPDATE_STATUSES },
    request_id: OPTIONAL_TEXT,
    initiated_by: OPTIONAL_TEXT,
    proposed_by: TEXT,
    created_at: TIMESTAMP,
    applied_at: OPTIONAL_TIMESTAMP,
    applied_snapshot_id: { type: ['string', 'null'], format: 'uuid' },
    withdrawn_at: OPTIONAL_TIMESTAMP,
  }),
);

export const UPDATE_EXAMPLE = {
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
  withdrawn_at: null,
};

const APPLIED_SCHEMA: Schema = named(
  'AppliedUpdate',
  object({
    snapshot_id: UUID,
    snapshot_version: { type: 'integer', minimum: 1 },
    envelope_hash: HASH,
    prev_hash: HASH,
  }),
);

const APPLIED_EXAMPLE = {
  snapshot_id: '8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e',
  snapshot_version: 2,
  envelope_hash: '28e139c59906799360e037034297c075c9172cf6cde20ac75b9a88841d97c438',
  prev_hash: SNAPSHOT_HEADER_EXAMPLE.envelope_hash,
};

export const APPLIED_ENVELOPE_EXAMPLE = {
  ...ENVELOPE_EXAMPLE,
  snapshot_id: APPLIED_EXAMPLE.snapshot_id,
  snapshot_version: 2,
  generated_at: '2026-01-16T09:00:00.000Z',
  attributes: {
    ...ENVELOPE_EXAMPLE.attributes,
    legal: { ...ENVELOPE_EXAMPLE.attributes.legal, legal_name: 'Acme Holding AG' },
  },
  audit: {
    created_by: 'oidc:dev#alice',
    created_at: '2026-01-16T09:00:00.000Z',
    source: 'entity_state_update',
    request_id: '4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001',
  },
  diff: { format: 'rfc6902', ops: PATCH_EXAMPLE },
};

/** Beyond what its rule says. */
export const WHO_WITHDRAWS = 'Its proposer, or any `tenant_editor`. It can be applied no more.';

type Family = 'tenant' | 'subject';

const ApiFamilyParams = (family: Family): MethodDecorator =>
  applyDecorators(ApiTenantParam(), ...(family === 'subject' ? [ApiSubjectParams()] : []));

const ApiUpdateParams = (family: Family): MethodDecorator =>
  applyDecorators(
    ApiFamilyParams(family),
    ApiPathParam('update_id', 'An update of the tenant.', UUID, UPDATE_EXAMPLE.update_id),
  );

/** Documents a proposal in either path family. */
export function ApiUpdatePropose(family: Family, body: Type<object>): MethodDecorator {
  const common = {
    subject_id: 'acme-corp',
    base_snapshot_version: 1,
    patch_ops: PATCH_EXAMPLE,
    request_id: 'req-0001',
  };
  const example =
    family === 'subject'
      ? common
      : { ...common, subject_type: 'organization', base_snapshot_id: ENVELOPE_EXAMPLE.snapshot_id };
  return applyDecorators(
    ApiFamilyParams(family),
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

/** Documents a list of updates in either path family. */
export const ApiUpdateList = (family: Family): MethodDecorator =>
  applyDecorators(
    ApiFamilyParams(family),
    ApiAnswer(200, 'A page of updates.', listSchema(UPDATE_SCHEMA), listExample([UPDATE_EXAMPLE], 50)),
    ApiErrors('validation_error', 'unauthorized', 'forbidden'),
  );

/** Documents the read of one update in either path family. */
export const ApiUpdate = (family: Family): MethodDecorator =>
  applyDecorators(
    ApiUpdateParams(family),
    ApiAnswer(200, 'The update.', UPDATE_SCHEMA, UPDATE_EXAMPLE),
    ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found'),
  );

/** Documents withdrawing an update in either path family. */
export const ApiUpdateWithdraw = (family: Family): MethodDecorator =>
  applyDecorators(
    ApiUpdateParams(family),
    ApiAnswer(200, 'The withdrawn update.', UPDATE_SCHEMA, {
      ...UPDATE_EXAMPLE,
      status: 'withdrawn',
      withdrawn_at: '2026-01-16T08:30:00.000Z',
    }),
    ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict'),
  );

/** Documents applying an update in either path family. */
export const ApiUpdateApply = (family: Family): MethodDecorator =>
  applyDecorators(
    ApiUpdateParams(family),
    family === 'tenant'
      ? ApiAnswer(201, 'The envelope of the new snapshot.', ENVELOPE_SCHEMA, APPLIED_ENVELOPE_EXAMPLE)
      : ApiAnswer(200, 'The new snapshot.', APPLIED_SCHEMA, APPLIED_EXAMPLE),
    ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict'),
  );
