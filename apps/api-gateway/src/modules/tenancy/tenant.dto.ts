import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsOptional, IsString, Length, Matches } from 'class-validator';
import { TENANT_ID } from '../../http/request/path-params';
import { IfGiven } from './partial-body';

const IsTenantId = (): PropertyDecorator =>
  applyDecorators(
    IsString(),
    Matches(TENANT_ID, { message: '$property must be 1-128 characters of [A-Za-z0-9._-], starting alphanumeric' }),
  );

const IsDisplayName = (): PropertyDecorator =>
  applyDecorators(
    IsString(),
    Length(1, 256),
    Matches(/^\P{Cc}*$/u, { message: 'name must not hold control characters' }),
  );

const CHAIN_ENFORCED = { required: false, description: 'Refuse to apply on a parent without envelope_hash.' };

/** Body of `POST /v1/tenants` (specification, "Tenants, members, principals"). */
export class CreateTenantBody {
  @ApiProperty({ pattern: TENANT_ID.source, example: 'acme' })
  @IsTenantId()
  tenant_id: string;

  @ApiProperty({ minLength: 1, maxLength: 256, example: 'Acme Corporation' })
  @IsDisplayName()
  name: string;

  @ApiProperty({ type: 'string', pattern: TENANT_ID.source, required: false, nullable: true, example: 'acme' })
  @IsOptional()
  @IsTenantId()
  slug?: string | null;

  @ApiProperty({ ...CHAIN_ENFORCED, default: true })
  @IfGiven()
  @IsBoolean()
  chain_enforced?: boolean;
}

/** Body of `PATCH /v1/tenants/{tenant_id}`: at least one field. `tenant_id` cannot change. */
export class PatchTenantBody {
  @ApiProperty({ minLength: 1, maxLength: 256, required: false, example: 'Acme Corporation' })
  @IfGiven()
  @IsDisplayName()
  name?: string;

  @ApiProperty({
    type: 'string',
    pattern: TENANT_ID.source,
    required: false,
    nullable: true,
    description: 'Null takes the slug away.',
    example: 'acme',
  })
  @IsOptional()
  @IsTenantId()
  slug?: string | null;

  @ApiProperty(CHAIN_ENFORCED)
  @IfGiven()
  @IsBoolean()
  chain_enforced?: boolean;
}

/** Query of `GET /v1/tenants/{tenant_id}/usage`. */
export class UsageQuery {
  @ApiProperty({ required: false, example: '2026-01-15', description: 'ISO 8601, with a timezone, or a UTC date.' })
  @IfGiven()
  @IsString()
  from?: string;

  @ApiProperty({
    required: false,
    example: '2026-01-16',
    description: 'ISO 8601, with a timezone, or a UTC date, then to the end of that day.',
  })
  @IfGiven()
  @IsString()
  to?: string;
}
