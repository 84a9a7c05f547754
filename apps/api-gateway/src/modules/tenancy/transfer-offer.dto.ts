import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { PRINCIPAL_ID } from '../../http/request/path-params';

/** Body of `POST …/transfer-offers` (contract, "Transfer offers"). */
export class CreateTransferOfferBody {
  @ApiProperty({
    pattern: PRINCIPAL_ID.source,
    example: 'oidc:dev#carol',
    description: 'Who is to become owner. Need not be a member yet.',
  })
  @IsString()
  @Matches(PRINCIPAL_ID, { message: 'to_principal_id must be oidc:{project_id}#{user_id}' })
  to_principal_id: string;

  @ApiProperty({ type: 'string', required: false, nullable: true, maxLength: 2000, example: 'Over to you.' })
  @IsOptional()
  @IsString()
  @MaxLength(2000)
  @Matches(/^[\P{Cc}\t\n\r]*$/u, { message: 'message must not hold control characters but tabs and line ends' })
  message?: string | null;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    nullable: true,
    example: '2099-01-01T00:00:00Z',
    description:
      'In the future; from then on the offer is `expired`. Without it the offer stands until it is answered.',
  })
  @IsOptional()
  @IsString()
  expires_at?: string | null;
}
