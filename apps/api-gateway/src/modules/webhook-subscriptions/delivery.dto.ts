import { EVENT_TYPES, TEST_EVENT_TYPE } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, ValidateIf } from 'class-validator';
import { PageQuery } from '../../http/lists/paging';

const STATUSES = ['pending', 'succeeded', 'dead', 'skipped'] as const;
const FINISHED = ['succeeded', 'dead', 'skipped'] as const;
const SENT_TYPES = [...EVENT_TYPES, TEST_EVENT_TYPE] as const;
const time = { type: 'string', format: 'date-time' } as const;

/** Query of the delivery log. */
export class ListDeliveriesQuery extends PageQuery {
  @ApiProperty({ enum: STATUSES, required: false, example: 'dead', description: 'Absent: in every state.' })
  @IsOptional()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];

  @ApiProperty({
    enum: SENT_TYPES,
    required: false,
    example: 'identity.snapshot.created',
    description: 'Absent: of every type.',
  })
  @IsOptional()
  @IsIn(SENT_TYPES)
  event_type?: (typeof SENT_TYPES)[number];

  @ApiProperty({
    ...time,
    required: false,
    example: '2026-01-15T00:00:00Z',
    description: '`created_at` is this or later.',
  })
  @IsOptional()
  @IsString()
  from?: string;

  @ApiProperty({
    ...time,
    required: false,
    example: '2026-01-16T00:00:00Z',
    description: '`created_at` is this or earlier.',
  })
  @IsOptional()
  @IsString()
  to?: string;
}

/** Body of `POST …/deliveries/replay`. */
export class ReplayBody {
  @ApiProperty({ ...time, example: '2026-01-15T00:00:00Z', description: '`created_at` is this or later.' })
  @IsString()
  from: string;

  @ApiProperty({
    ...time,
    required: false,
    example: '2026-01-16T00:00:00Z',
    description: '`created_at` is this or earlier.',
  })
  @ValidateIf((_: object, value: unknown) => value !== undefined)
  @IsString()
  to?: string;

  @ApiProperty({
    enum: FINISHED,
    required: false,
    example: 'dead',
    description: 'Deliveries in this status; without it the `dead` and the `skipped` ones.',
  })
  @ValidateIf((_: object, value: unknown) => value !== undefined)
  @IsIn(FINISHED)
  status?: (typeof FINISHED)[number];
}
