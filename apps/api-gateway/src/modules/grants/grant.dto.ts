import { SCOPES, type Scope, SUBJECT_TYPES } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { IsSetOf } from '../../http/request/is-set-of.decorator';
import { TENANT_ID } from '../../http/request/path-params';

/** Body of `POST …/grants` (specification, "Grants"). */
export class CreateGrantBody {
  @ApiProperty({ example: 'beta', description: 'An existing tenant.' })
  @IsString()
  @Matches(TENANT_ID, {
    message: 'grantee_tenant_id must be 1-128 characters of [A-Za-z0-9._-], starting alphanumeric',
  })
  grantee_tenant_id: string;

  @ApiProperty({ enum: SUBJECT_TYPES, example: 'organization' })
  @IsIn(SUBJECT_TYPES)
  subject_type: string;

  /** With the u flag the count is of code points. */
  @ApiProperty({ minLength: 1, maxLength: 512, example: 'acme-corp' })
  @IsString()
  @Matches(/^\P{Cc}{1,512}$/u, { message: 'subject_id must be 1 to 512 characters without control characters' })
  subject_id: string;

  @ApiProperty({ enum: SCOPES, isArray: true, minItems: 1, uniqueItems: true, example: ['read_latest'] })
  @IsSetOf(SCOPES)
  scopes: Scope[];

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    nullable: true,
    example: '2099-01-01T00:00:00Z',
    description: 'In the future. Absent or null: the grant does not expire.',
  })
  @IsOptional()
  @IsString()
  expires_at?: string | null;
}
