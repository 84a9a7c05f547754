import { CANONICALIZATION_METHOD, HASH_ALGORITHM } from '@iss/domain';
import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import {
  ApiAnswer,
  ApiErrors,
  ApiSubjectParams,
  ApiTenantParam,
  HASH,
  named,
  object,
  type Schema,
  SUBJECT_REF,
  SUBJECT_TYPE,
  TIMESTAMP,
  UUID,
} from '../../../http/describe/openapi';
import { listExample, listFields, listSchema } from '../../../http/lists/paging';
import { SNAPSHOT_HEADER_EXAMPLE } from '../../../http/answer/snapshot-header.view';
import { ORDERS } from '../snapshot/snapshot.dto';
import { SNAPSHOT_EXAMPLE, SNAPSHOT_SCHEMA, VERDICT } from '../snapshot/snapshot.openapi';

const TEXT: Schema = { type: 'string' };

const CHAIN_ITEM: Schema = named(
  'ChainItem',
  object({
    snapshot_id: UUID,
    snapshot_version: { type: 'integer', minimum: 1 },
    envelope_hash: HASH,
    prev_hash: HASH,
    chain_valid: {
      ...VERDICT,
      description: "Its envelope and its parent's have the stored hashes, and `prev_hash` is that of the parent.",
    },
    generated_at: TIMESTAMP,
  }),
);

const CHAIN_PROOF: Schema = named(
  'ChainProof',
  object({
    subject_type: SUBJECT_TYPE,
    subject_id: TEXT,
    chain_valid: { ...VERDICT, description: 'Of all items of the page.' },
    chain: { type: 'array', items: CHAIN_ITEM, deprecated: true, description: 'Alias of items.' },
    ...listFields(CHAIN_ITEM, ORDERS),
  }),
);

const { snapshot_id, snapshot_version, envelope_hash, prev_hash, generated_at, subject } = SNAPSHOT_HEADER_EXAMPLE;
const CHAIN_ITEM_EXAMPLE = { snapshot_id, snapshot_version, envelope_hash, prev_hash, chain_valid: true, generated_at };
const CHAIN_PROOF_EXAMPLE = {
  ...subject,
  chain_valid: true,
  chain: [CHAIN_ITEM_EXAMPLE],
  ...listExample([CHAIN_ITEM_EXAMPLE], 50, 'desc'),
};

const EXPORT: Schema = named(
  'Export',
  object({
    subject: SUBJECT_REF,
    canonicalization_method: { type: 'string', const: CANONICALIZATION_METHOD },
    hash_algorithm: { type: 'string', const: HASH_ALGORITHM },
    snapshots: { type: 'array', items: SNAPSHOT_SCHEMA, description: 'Ascending by `snapshot_version`.' },
  }),
);

const EXPORT_EXAMPLE = {
  subject,
  canonicalization_method: CANONICALIZATION_METHOD,
  hash_algorithm: HASH_ALGORITHM,
  snapshots: [SNAPSHOT_EXAMPLE],
};

interface Form {
  tenant: boolean;
}

function subjectPath({ tenant }: Form): MethodDecorator {
  return applyDecorators(
    ...(tenant ? [ApiTenantParam()] : []),
    ApiSubjectParams(),
    ApiErrors('validation_error', 'unauthorized', ...(tenant ? (['forbidden'] as const) : []), 'not_found'),
  );
}

/** Documents a history. */
export function ApiHistory(form: Form, defaultLimit: number): MethodDecorator {
  const item = form.tenant ? SNAPSHOT_HEADER_EXAMPLE : SNAPSHOT_EXAMPLE;
  return applyDecorators(
    subjectPath(form),
    ApiAnswer(200, 'The snapshots.', listSchema(SNAPSHOT_SCHEMA, ORDERS), listExample([item], defaultLimit, 'desc')),
  );
}

/** Documents a chain proof. */
export function ApiChainProof(form: Form): MethodDecorator {
  return applyDecorators(
    subjectPath(form),
    ApiAnswer(200, 'The links of the chain, recomputed.', CHAIN_PROOF, CHAIN_PROOF_EXAMPLE),
  );
}

/** Documents an export. */
export function ApiExport(form: Form): MethodDecorator {
  return applyDecorators(
    subjectPath(form),
    ApiResponse({
      status: 200,
      description:
        'Every snapshot. With `Accept: application/x-ndjson` one a line and without a limit, else in one document.',
      content: {
        'application/json': { schema: EXPORT, example: EXPORT_EXAMPLE },
        'application/x-ndjson': { schema: SNAPSHOT_SCHEMA, example: SNAPSHOT_EXAMPLE },
      },
    }),
  );
}
