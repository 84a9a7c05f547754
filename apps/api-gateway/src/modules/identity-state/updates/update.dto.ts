import {
  DomainError,
  type JsonValue,
  type PatchOperation,
  SUBJECT_TYPES,
  type SubjectRef,
  UPDATE_STATUSES,
  type UpdateStatus,
} from '@iss/domain';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Allow, IsDefined, IsIn, IsInt, IsOptional, IsUUID, Matches, Max, Min, ValidateIf } from 'class-validator';
import { nameSent, oneOf } from '../../../http/request/aliases';
import { PageQuery } from '../../../http/lists/paging';
import { PATCH_OPERATION } from '../snapshot/snapshot.openapi';
import type { Proposal } from './update.service';

const MAX_VERSION = 2_147_483_647;
const VARIANT_B_OPS: readonly PatchOperation['op'][] = ['add', 'replace', 'remove'];
const PATCH_NAMES = ['patch_ops', 'operations', 'ops'] as const;

/** With the u flag the count is of code points. */
const Text = (max: number): PropertyDecorator =>
  Matches(new RegExp(`^\\P{Cc}{1,${max}}$`, 'u'), {
    message: `$property must be 1 to ${max} characters without control characters`,
  });

const patchOps = {
  type: 'array',
  items: PATCH_OPERATION,
  example: [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }],
} satisfies ApiPropertyOptions;
const text = { type: 'string', required: false, nullable: true, minLength: 1 } as const;
const requestId = {
  ...text,
  maxLength: 128,
  description: 'The same id again answers the first proposal.',
  example: 'req-0001',
} satisfies ApiPropertyOptions;
const initiator = { ...text, maxLength: 512 } satisfies ApiPropertyOptions;

/** Body of a proposal on the tenant-level path (specification, "Updates", variant A), with every alias. */
export class ProposeUpdateBody {
  @ApiProperty({ enum: SUBJECT_TYPES, example: 'organization' })
  @IsIn(SUBJECT_TYPES)
  subject_type: string;

  @ApiProperty({ minLength: 1, maxLength: 512, example: 'acme-corp' })
  @Text(512)
  subject_id: string;

  @ApiProperty({ format: 'uuid', example: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10' })
  @IsUUID('loose')
  base_snapshot_id: string;

  @ApiProperty({ type: 'integer', minimum: 1, example: 1 })
  @IsInt()
  @Min(1)
  @Max(MAX_VERSION)
  base_snapshot_version: number;

  @ApiProperty({ ...patchOps, required: false, description: 'RFC 6902 operations, all six.' })
  @ValidateIf((body: ProposeUpdateBody) => body.operations === undefined && body.ops === undefined)
  @IsDefined()
  patch_ops?: JsonValue;

  @ApiProperty({ ...patchOps, required: false, deprecated: true, description: 'Alias of patch_ops.' })
  @Allow()
  operations?: JsonValue;

  @ApiProperty({ ...patchOps, required: false, deprecated: true, description: 'Alias of patch_ops.' })
  @Allow()
  ops?: JsonValue;

  @ApiProperty(requestId)
  @IsOptional()
  @Text(128)
  request_id?: string | null;

  @ApiProperty({ ...initiator, example: 'registry-sync' })
  @IsOptional()
  @Text(512)
  initiated_by?: string | null;

  @ApiProperty({ ...initiator, deprecated: true, description: 'Alias of initiated_by.' })
  @IsOptional()
  @Text(512)
  initiator?: string | null;
}

/** Body of a proposal on the subject-level path (specification, "Updates", variant B). */
export class ProposeSubjectUpdateBody {
  @ApiProperty({ minLength: 1, maxLength: 512, example: 'acme-corp', description: "Must equal the path's." })
  @Text(512)
  subject_id: string;

  @ApiProperty({ type: 'integer', minimum: 1, example: 1 })
  @IsInt()
  @Min(1)
  @Max(MAX_VERSION)
  base_snapshot_version: number;

  @ApiProperty({ ...patchOps, description: 'RFC 6902 operations: add, replace, remove.' })
  @IsDefined()
  patch_ops: JsonValue;

  @ApiProperty(requestId)
  @IsOptional()
  @Text(128)
  request_id?: string | null;
}

/** Query of the lists of updates. */
export class UpdateListQuery extends PageQuery {
  @ApiProperty({ enum: UPDATE_STATUSES, required: false, example: 'proposed', description: 'Absent: in every state.' })
  @IsOptional()
  @IsIn(UPDATE_STATUSES)
  status?: UpdateStatus;
}

/** Variant A: base named by id and version, every operation. */
export function proposalOf(body: ProposeUpdateBody): Proposal {
  return {
    subject: { subjectType: body.subject_type, subjectId: body.subject_id },
    baseSnapshotId: body.base_snapshot_id,
    baseSnapshotVersion: body.base_snapshot_version,
    patch: { ops: oneOf(body, PATCH_NAMES) ?? null, at: `/${nameSent(body, PATCH_NAMES)}` },
    requestId: body.request_id ?? null,
    initiatedBy: oneOf(body, ['initiated_by', 'initiator']) ?? null,
  };
}

/** Variant B: base named by version, three operations. Throws `validation_error` unless the path's subject is meant. */
export function subjectProposalOf(subject: SubjectRef, body: ProposeSubjectUpdateBody): Proposal {
  if (body.subject_id !== subject.subjectId) {
    throw new DomainError('validation_error', "subject_id must equal the path's.", [
      { path: '/subject_id', message: "must equal the path's subject_id", code: 'mismatch' },
    ]);
  }
  return {
    subject,
    baseSnapshotId: null,
    baseSnapshotVersion: body.base_snapshot_version,
    patch: { ops: body.patch_ops, at: '/patch_ops', allowedOps: VARIANT_B_OPS },
    requestId: body.request_id ?? null,
    initiatedBy: null,
  };
}
