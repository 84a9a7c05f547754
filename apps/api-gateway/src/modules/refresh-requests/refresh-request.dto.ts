import type { JsonValue } from '@iss/domain';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Equals, IsArray, IsOptional, IsString, IsUUID, Length, Matches, MaxLength } from 'class-validator';
import { PageQuery } from '../../http/lists/paging';
import { TENANT_ID } from '../../http/request/path-params';

const IS_TENANT_ID = {
  message: 'requesting_tenant_id must be 1-128 characters of [A-Za-z0-9._-], starting alphanumeric',
};

/** Body of `POST …/refresh-requests` (specification, "Refresh requests"). */
export class CreateRefreshRequestBody {
  @ApiProperty({ maxLength: 128, example: 'beta', description: "The caller's tenant." })
  @IsString()
  @Matches(TENANT_ID, IS_TENANT_ID)
  requesting_tenant_id: string;

  @ApiProperty({ type: 'string', required: false, nullable: true, minLength: 1, maxLength: 128, example: 'stale_data' })
  @IsOptional()
  @IsString()
  @Length(1, 128)
  @Matches(/^\P{Cc}*$/u, { message: 'reason_code must not hold control characters' })
  reason_code?: string | null;

  @ApiProperty({
    type: 'string',
    required: false,
    nullable: true,
    maxLength: 2000,
    example: 'Please confirm the name.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(2000)
  @Matches(/^[\P{Cc}\t\n\r]*$/u, { message: 'message must not hold control characters but tabs and line ends' })
  message?: string | null;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: '^/', maxLength: 1024 },
    required: false,
    nullable: true,
    example: ['/attributes/legal/legal_name'],
    description: 'JSON Pointers (RFC 6901). Repeated ones are kept once. At most 100, unless the deployment says else.',
  })
  @IsOptional()
  @IsArray()
  requested_paths?: JsonValue[] | null;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    nullable: true,
    example: '2099-01-01T00:00:00Z',
    description: 'Until when the answer is of use; in the future. Says so to the owner: nothing happens at that time.',
  })
  @IsOptional()
  @IsString()
  expires_at?: string | null;

  /** Named here only to say who sets it. */
  @Equals(undefined, { message: 'origin_type is set by the server; leave it out' })
  origin_type?: undefined;
}

const snapshotId = { format: 'uuid', required: false } satisfies ApiPropertyOptions;

/** Body of `POST …/{refresh_request_id}/fulfill`: the snapshot under either of its names. */
export class FulfilRefreshRequestBody {
  @ApiProperty({
    ...snapshotId,
    description:
      "A snapshot of the path's subject; the latest one confirms it. Required, under this name or its alias.",
    example: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  })
  @IsOptional()
  @IsUUID('loose')
  resolved_snapshot_id?: string;

  @ApiProperty({ ...snapshotId, deprecated: true, description: 'Alias of resolved_snapshot_id.' })
  @IsOptional()
  @IsUUID('loose')
  snapshot_id?: string;
}

/** Query of the list. */
export class ListRefreshRequestsQuery extends PageQuery {
  @ApiProperty({
    required: false,
    maxLength: 128,
    example: 'beta',
    description:
      "Requests of this tenant only. Required, and the caller's own, unless the caller belongs to the owner.",
  })
  @IsOptional()
  @IsString()
  @Matches(TENANT_ID, IS_TENANT_ID)
  requesting_tenant_id?: string;
}
