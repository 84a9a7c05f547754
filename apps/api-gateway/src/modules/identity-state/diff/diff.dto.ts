import { DIFF_ROOTS, type DiffRoot } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { VerifyQuery } from '../snapshot/snapshot.dto';

const FORMATS = ['rfc6902'] as const;
const ATTRIBUTIONS = ['changed_only', 'none'] as const;
const DEFAULT_INCLUDE = '/subject,/attributes';

const ROOT = `(?:${DIFF_ROOTS.join('|')})`;
const INCLUDE = new RegExp(`^${ROOT}(?:,${ROOT})*$`);
const VERSION = /^[1-9][0-9]{0,9}$/;

/** Query of a diff between two snapshot ids (specification, "Diff", query parameters). */
export class DiffQuery extends VerifyQuery {
  @ApiProperty({ enum: FORMATS, required: false, default: 'rfc6902', description: 'RFC 6902 operations.' })
  @IsOptional()
  @IsIn(FORMATS)
  format?: (typeof FORMATS)[number];

  @ApiProperty({
    type: 'string',
    required: false,
    default: DEFAULT_INCLUDE,
    pattern: INCLUDE.source,
    description: 'Comma-separated roots: `/subject`, `/attributes`, or `/` for the full envelope.',
  })
  @IsOptional()
  @Matches(INCLUDE, { message: `include must be comma-separated roots out of ${DIFF_ROOTS.join(', ')}` })
  include?: string;

  @ApiProperty({
    enum: ATTRIBUTIONS,
    required: false,
    default: 'changed_only',
    description: '`changed_only` adds the evidence for each changed path; `none` omits it.',
  })
  @IsOptional()
  @IsIn(ATTRIBUTIONS)
  include_attribution?: (typeof ATTRIBUTIONS)[number];
}

/** Query of a diff between two versions of a subject. */
export class VersionDiffQuery extends DiffQuery {
  @ApiProperty({ type: 'integer', minimum: 1, example: 1, description: 'The "before" state.' })
  @Matches(VERSION, { message: 'from_version must be an integer >= 1' })
  from_version: string;

  @ApiProperty({ type: 'integer', minimum: 1, example: 2, description: 'The "after" state.' })
  @Matches(VERSION, { message: 'to_version must be an integer >= 1' })
  to_version: string;
}

/** The roots that a query includes: sorted, each once. */
export function includedRoots(include = DEFAULT_INCLUDE): DiffRoot[] {
  const asked = include.split(',');
  return DIFF_ROOTS.filter((root) => asked.includes(root));
}
