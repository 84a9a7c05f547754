import { EVENT_TYPES, type EventType } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsOptional,
  IsString,
  Length,
  Matches,
} from 'class-validator';
import { TENANT_ID } from '../../http/path-params';

const MAX_EVENT_TYPES = 16;
const eventTypes = { enum: EVENT_TYPES, isArray: true, minItems: 1, maxItems: MAX_EVENT_TYPES } as const;

/** Body of `POST /v1/webhook-subscriptions` (specification, "Webhook subscriptions"). */
export class CreateWebhookSubscriptionBody {
  @ApiProperty({ example: 'acme' })
  @IsString()
  @Matches(TENANT_ID, { message: 'tenant_id must be 1-128 characters of [A-Za-z0-9._-], starting alphanumeric' })
  tenant_id: string;

  @ApiProperty({ format: 'uri', maxLength: 2048, example: 'https://hooks.example.com/iss' })
  @IsString()
  @Length(1, 2048)
  target_url: string;

  @ApiProperty({ ...eventTypes, required: false, example: ['identity.snapshot.created'] })
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_EVENT_TYPES)
  @ArrayUnique()
  @IsIn(EVENT_TYPES, { each: true })
  event_types?: EventType[];

  @ApiProperty({ ...eventTypes, required: false, deprecated: true, description: 'Alias of event_types.' })
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_EVENT_TYPES)
  @ArrayUnique()
  @IsIn(EVENT_TYPES, { each: true })
  subscribed_event_types?: EventType[];
}

/** Query of the list. */
export class ListWebhookSubscriptionsQuery {
  @ApiProperty({ example: 'acme' })
  @IsString()
  @Matches(TENANT_ID, { message: 'tenant_id must be 1-128 characters of [A-Za-z0-9._-], starting alphanumeric' })
  tenant_id: string;
}
