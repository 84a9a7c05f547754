import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { type View, VIEWS } from './snapshot.views';

const VERIFY_MODES = ['none', 'hash', 'chain'] as const;

/** Query of the reads of one snapshot (specification, "Snapshot reads", common query parameters). */
export class SnapshotQuery {
  @ApiProperty({ enum: VIEWS, required: false, default: 'full', description: '`header` omits the envelope.' })
  @IsOptional()
  @IsIn(VIEWS)
  view?: View;

  @ApiProperty({
    enum: VERIFY_MODES,
    required: false,
    default: 'none',
    description: '`hash` recomputes the hash of the envelope; `chain` also walks `depth` parents.',
  })
  @IsOptional()
  @IsIn(VERIFY_MODES)
  verify?: (typeof VERIFY_MODES)[number];

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1000, required: false, default: 1 })
  @IsOptional()
  @Matches(/^[1-9][0-9]{0,5}$/, { message: 'depth must be an integer >= 1' })
  depth?: string;
}
