import { SUBJECT_TYPES, type SubjectType } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { PageQuery } from '../../http/lists/paging';

/** Query of the list of owned subjects (contract, "`GET …/subjects` (tenant)"). */
export class SubjectListQuery extends PageQuery {
  @ApiProperty({ enum: SUBJECT_TYPES, required: false, example: 'organization', description: 'Absent: of every type.' })
  @IsOptional()
  @IsIn(SUBJECT_TYPES)
  subject_type?: SubjectType;

  /** With the u flag the count is of code points. */
  @ApiProperty({ required: false, maxLength: 512, description: 'How the ids begin, byte for byte.', example: 'acme-' })
  @IsOptional()
  @Matches(/^\P{Cc}{0,512}$/u, {
    message: 'subject_id_prefix must be at most 512 characters without control characters',
  })
  subject_id_prefix?: string;
}
