import { DIFF_ROOTS, HASH_ALGORITHM } from '@iss/domain';
import { applyDecorators } from '@nestjs/common';
import {
  ApiAnswer,
  ApiConditional,
  ApiErrors,
  ApiSnapshotParam,
  ApiSubjectParams,
  ApiTenantParam,
  HASH,
  named,
  object,
  type Schema,
  SUBJECT_REF,
  UUID,
} from '../../../http/describe/openapi';
import { EVIDENCE_REF, VERDICT } from '../snapshot/snapshot.openapi';

const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const VERSION: Schema = { type: 'integer', minimum: 1 };

const SIDE: Schema = object({ snapshot_id: UUID, snapshot_version: VERSION });

const OPERATION: Schema = named(
  'DiffOperation',
  object(
    {
      op: { type: 'string', enum: ['add', 'remove', 'replace'] },
      path: { ...TEXT, description: 'RFC 6901 JSON Pointer into the envelope.' },
      value: { description: 'Present for `add` and `replace`.' },
    },
    ['value'],
  ),
);

const EVIDENCE: Schema = { type: ['array', 'null'], items: EVIDENCE_REF };

const HASH_VERDICT: Schema = object({ value: HASH, stored: HASH, valid: VERDICT });
const CHAIN_FIELDS: Record<string, Schema> = { prev_hash: HASH, valid: VERDICT, depth: COUNT };

const VERIFICATION: Schema = named(
  'DiffVerification',
  object({
    mode: { type: 'string', enum: ['hash', 'chain'] },
    chain_supported: { type: 'boolean' },
    hash: object({ alg: { type: 'string', enum: [HASH_ALGORITHM] }, from: HASH_VERDICT, to: HASH_VERDICT }),
    chain: object({ ...CHAIN_FIELDS, from: object(CHAIN_FIELDS), to: object(CHAIN_FIELDS) }),
  }),
);

const FIELDS: Record<string, Schema> = {
  format: { type: 'string', enum: ['rfc6902'] },
  from: SIDE,
  to: SIDE,
  include: { type: 'array', items: { type: 'string', enum: DIFF_ROOTS } },
  ops: { type: 'array', items: OPERATION },
  ops_hash: { ...TEXT, pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the RFC 8785 text of `ops`.' },
  change_summary: object({ total_ops: COUNT, adds: COUNT, removes: COUNT, replaces: COUNT, paths_changed: COUNT }),
  attribution: { type: 'array', items: object({ path: TEXT, from: EVIDENCE, to: EVIDENCE }) },
  verification: VERIFICATION,
};
const OPTIONAL = ['attribution', 'verification'];

const DIFF = named('DiffResult', object(FIELDS, OPTIONAL));
const VERSION_DIFF = named(
  'VersionDiffResult',
  object(
    {
      subject: SUBJECT_REF,
      from_version: { ...VERSION, deprecated: true, description: 'Alias of from.snapshot_version.' },
      to_version: { ...VERSION, deprecated: true, description: 'Alias of to.snapshot_version.' },
      ...FIELDS,
    },
    OPTIONAL,
  ),
);

const FROM = { snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', snapshot_version: 1 };
const TO = { snapshot_id: '8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e', snapshot_version: 2 };
const EXAMPLE = {
  format: 'rfc6902',
  from: FROM,
  to: TO,
  include: ['/attributes', '/subject'],
  ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }],
  ops_hash: '848ff1de862ca67f905526140f2cc105addc3f7f5657bd49ce569bb81a2ab743',
  change_summary: { total_ops: 1, adds: 0, removes: 0, replaces: 1, paths_changed: 1 },
  attribution: [
    {
      path: '/attributes/legal/legal_name',
      from: [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', role: 'primary' }],
      to: [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', role: 'primary' }],
    },
  ],
};
const VERSION_EXAMPLE = {
  subject: { subject_type: 'organization', subject_id: 'acme-corp' },
  from_version: 1,
  to_version: 2,
  ...EXAMPLE,
};

/** Of the texts of these very answers. */
const ETAG = '"63c574a4635fdd4f53f4cee3354c4e7888baf40f3a0462bdce5fe94292de1ede"';
const VERSION_ETAG = '"e0184dc3fe722ab9f14cc1c853eeb2e878019af25eefabf62a4bbac7f1290fc0"';

/** Documents a diff, between two versions of a subject or between two snapshot ids. */
export function ApiDiff(path: { between: 'versions' | 'ids'; tenant: boolean }): MethodDecorator {
  const isByVersions = path.between === 'versions';
  return applyDecorators(
    ...(path.tenant ? [ApiTenantParam()] : []),
    ...(isByVersions
      ? [ApiSubjectParams()]
      : [ApiSnapshotParam(FROM.snapshot_id, 'from_snapshot_id'), ApiSnapshotParam(TO.snapshot_id, 'to_snapshot_id')]),
    ApiAnswer(
      200,
      'What changed. `ops`, applied in order to the included roots of `from`, gives those of `to`.',
      isByVersions ? VERSION_DIFF : DIFF,
      isByVersions ? VERSION_EXAMPLE : EXAMPLE,
    ),
    ApiConditional(isByVersions ? VERSION_ETAG : ETAG),
    ApiErrors('validation_error', 'unauthorized', ...(path.tenant ? (['forbidden'] as const) : []), 'not_found'),
  );
}
