import { PRINCIPAL_TYPES, type PrincipalType, type Role, ROLES, TENANCY_ROLES, type TenancyRole } from '@iss/domain';
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

/** Body of the principal upsert; fields may be sent alone. */
export class PutPrincipalBody {
  @ApiProperty({ enum: ROLES, required: false, example: 'tenant_editor' })
  @IsOptional()
  @IsIn(ROLES)
  api_functional_role?: Role;

  @ApiProperty({ enum: PRINCIPAL_TYPES, required: false, example: 'service_account' })
  @IsOptional()
  @IsIn(PRINCIPAL_TYPES)
  principal_type?: PrincipalType;

  @ApiProperty({ required: false, description: 'true: a human account_admin only.', example: false })
  @IsOptional()
  @IsBoolean()
  allow_counterparty_access?: boolean;

  @ApiProperty({ enum: TENANCY_ROLES, required: false, description: 'A human account_admin only.' })
  @IsOptional()
  @IsIn(TENANCY_ROLES)
  tenancy_role?: TenancyRole;
}
