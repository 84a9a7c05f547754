import { SCOPES, type Scope, SUBJECT_TYPES } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import { ArrayMinSize, ArrayUnique, IsArray, IsIn, IsOptional, IsString, Length, Matches } from 'class-validator';
import { TENANT_ID } from '../../http/path-params';

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

  @ApiProperty({ minLength: 1, maxLength: 512, example: 'acme-corp' })
  @IsString()
  @Length(1, 512)
  @Matches(/^\P{Cc}*$/u, { message: 'subject_id must not hold control characters' })
  subject_id: string;

  @ApiProperty({ enum: SCOPES, isArray: true, minItems: 1, example: ['read_latest'] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(SCOPES, { each: true })
  scopes: Scope[];

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    nullable: true,
    example: '2027-01-01T00:00:00Z',
  })
  @IsOptional()
  @IsString()
  expires_at?: string | null;
}
