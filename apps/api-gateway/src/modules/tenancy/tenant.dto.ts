import { type Role, ROLES } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString, Length, Matches } from 'class-validator';
import { TENANT_ID } from '../../http/path-params';

const ID_RULE = { message: '$property must be 1-128 characters of [A-Za-z0-9._-], starting alphanumeric' };

/** Body of `POST /v1/tenants` (specification, "Tenants, members, principals"). */
export class CreateTenantBody {
  @ApiProperty({ pattern: TENANT_ID.source, example: 'acme' })
  @IsString()
  @Matches(TENANT_ID, ID_RULE)
  tenant_id: string;

  @ApiProperty({ minLength: 1, maxLength: 256, example: 'Acme Corporation' })
  @IsString()
  @Length(1, 256)
  @Matches(/^\P{Cc}*$/u, { message: 'name must not hold control characters' })
  name: string;

  @ApiProperty({ pattern: TENANT_ID.source, required: false, example: 'acme' })
  @IsOptional()
  @IsString()
  @Matches(TENANT_ID, ID_RULE)
  slug?: string;

  @ApiProperty({ required: false, default: true, description: 'Refuse to apply on a parent without envelope_hash.' })
  @IsOptional()
  @IsBoolean()
  chain_enforced?: boolean;
}

/** Body of the member upsert. */
export class PutMemberBody {
  @ApiProperty({ enum: ROLES, example: 'tenant_editor' })
  @IsIn(ROLES)
  role: Role;
}
