import { PRINCIPAL_TYPES, type PrincipalType, type Role, ROLES, TENANCY_ROLES, type TenancyRole } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { IfGiven } from './partial-body';

/** Body of the member upsert (specification, "Tenants, members, principals"). */
export class PutMemberBody {
  @ApiProperty({ enum: ROLES, example: 'tenant_editor' })
  @IsIn(ROLES)
  role: Role;
}

/** Body of the principal upsert; fields may be sent alone. */
export class PutPrincipalBody {
  @ApiProperty({ enum: ROLES, required: false, description: '`tenant_owner`: by a human only.' })
  @IfGiven()
  @IsIn(ROLES)
  api_functional_role?: Role;

  @ApiProperty({
    enum: PRINCIPAL_TYPES,
    required: false,
    description: 'From another type back to `human`: by a human `account_admin` only, never for oneself.',
  })
  @IfGiven()
  @IsIn(PRINCIPAL_TYPES)
  principal_type?: PrincipalType;

  @ApiProperty({ required: false, description: '`true`: by a human `account_admin` only.', example: true })
  @IfGiven()
  @IsBoolean()
  allow_counterparty_access?: boolean;

  @ApiProperty({ enum: TENANCY_ROLES, required: false, description: 'Changed by a human `account_admin` only.' })
  @IfGiven()
  @IsIn(TENANCY_ROLES)
  tenancy_role?: TenancyRole;
}
