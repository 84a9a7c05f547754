import { DomainError, VERIFY_MODES, type VerifyMode } from '@iss/domain';
import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { PageQuery } from '../../../http/lists/paging';
import { type View, VIEWS } from './snapshot.views';

export const ORDERS = ['asc', 'desc'] as const;
type Order = (typeof ORDERS)[number];

/** Query of the current-state summary (specification, "Snapshot reads"). */
export class VerifyQuery {
  @ApiProperty({
    enum: VERIFY_MODES,
    required: false,
    default: 'none',
    description: '`hash` recomputes the hash of the envelope; `chain` also walks `depth` parents.',
  })
  @IsOptional()
  @IsIn(VERIFY_MODES)
  verify?: VerifyMode;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    required: false,
    default: 1,
    description: 'Hops up the chain with `verify=chain`, bounded by a setting of the server.',
  })
  @IsOptional()
  @Matches(/^[1-9][0-9]{0,8}$/, { message: 'depth must be an integer >= 1' })
  depth?: string;
}

/** Query of the reads of one snapshot (specification, "Snapshot reads", common query parameters). */
export class SnapshotQuery extends VerifyQuery {
  @ApiProperty({ enum: VIEWS, required: false, default: 'full', description: '`header` omits the envelope.' })
  @IsOptional()
  @IsIn(VIEWS)
  view?: View;
}

/** Query of a chain proof. */
export class ChainProofQuery extends PageQuery {
  @ApiProperty({ enum: ORDERS, required: false, default: 'desc', description: 'By `snapshot_version`.' })
  @IsOptional()
  @IsIn(ORDERS)
  order?: Order;
}

/** Query of a history in its global form. */
export class HistoryQuery extends IntersectionType(ChainProofQuery, SnapshotQuery) {}

/** Query of a history in its tenant-scoped form, which shows headers unless asked otherwise. */
export class TenantHistoryQuery extends HistoryQuery {
  @ApiProperty({ default: 'header' })
  override view?: View;
}

/** What is to be verified. Throws `validation_error` for a depth above the server's maximum. */
export function verifyOptions(query: VerifyQuery, maxDepth: number): { verify: VerifyMode; depth: number } {
  const depth = Number(query.depth ?? 1);
  if (depth > maxDepth) {
    throw new DomainError('validation_error', `depth may be at most ${maxDepth}.`, [
      { path: '/query/depth', message: `must be at most ${maxDepth}`, code: 'too_large' },
    ]);
  }
  return { verify: query.verify ?? 'none', depth };
}
