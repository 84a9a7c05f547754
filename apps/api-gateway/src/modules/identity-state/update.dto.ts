import { type JsonValue, SUBJECT_TYPES } from '@iss/domain';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Allow, IsIn, IsInt, IsOptional, IsString, IsUUID, Length, Matches, Max, Min } from 'class-validator';

const NO_CONTROLS = /^\P{Cc}*$/u;
const MAX_VERSION = 2_147_483_647;

const patchOps = {
  type: 'array',
  items: { type: 'object' },
  example: [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }],
} satisfies ApiPropertyOptions;

/** Body of a proposal on the tenant-level path (specification, "Updates", variant A), with every alias. */
export class ProposeUpdateBody {
  @ApiProperty({ enum: SUBJECT_TYPES, example: 'organization' })
  @IsIn(SUBJECT_TYPES)
  subject_type: string;

  @ApiProperty({ minLength: 1, maxLength: 512, example: 'acme-corp' })
  @IsString()
  @Length(1, 512)
  @Matches(NO_CONTROLS)
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
  @Allow()
  patch_ops?: JsonValue;

  @ApiProperty({ ...patchOps, required: false, deprecated: true, description: 'Alias of patch_ops.' })
  @Allow()
  operations?: JsonValue;

  @ApiProperty({ ...patchOps, required: false, deprecated: true, description: 'Alias of patch_ops.' })
  @Allow()
  ops?: JsonValue;

  @ApiProperty({ required: false, description: 'The same id again answers the first proposal.', example: 'req-0001' })
  @IsOptional()
  @IsString()
  @Length(1, 128)
  @Matches(NO_CONTROLS)
  request_id?: string;

  @ApiProperty({ required: false, example: 'registry-sync' })
  @IsOptional()
  @IsString()
  @Length(1, 512)
  @Matches(NO_CONTROLS)
  initiated_by?: string;

  @ApiProperty({ required: false, deprecated: true, description: 'Alias of initiated_by.' })
  @IsOptional()
  @IsString()
  @Length(1, 512)
  @Matches(NO_CONTROLS)
  initiator?: string;
}

/** Body of a proposal on the subject-level path (specification, "Updates", variant B). */
export class ProposeSubjectUpdateBody {
  @ApiProperty({ minLength: 1, maxLength: 512, example: 'acme-corp', description: "Must equal the path's." })
  @IsString()
  @Length(1, 512)
  subject_id: string;

  @ApiProperty({ type: 'integer', minimum: 1, example: 1 })
  @IsInt()
  @Min(1)
  @Max(MAX_VERSION)
  base_snapshot_version: number;

  @ApiProperty({ ...patchOps, description: 'RFC 6902 operations: add, replace, remove.' })
  @Allow()
  patch_ops?: JsonValue;

  @ApiProperty({ required: false, example: 'req-0001' })
  @IsOptional()
  @IsString()
  @Length(1, 128)
  @Matches(NO_CONTROLS)
  request_id?: string;
}
