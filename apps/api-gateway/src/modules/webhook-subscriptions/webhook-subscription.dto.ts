import { EVENT_TYPES, type EventType } from '@iss/domain';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Length, Matches, Max, Min, ValidateIf } from 'class-validator';
import { IsSetOf } from '../../http/request/is-set-of.decorator';
import { PageQuery } from '../../http/lists/paging';
import { TENANT_ID } from '../../http/request/path-params';

const MAX_EVENT_TYPES = 16;
const MAX_GRACE_SECONDS = 604_800;
const STATUSES = ['active', 'disabled'] as const;
const eventTypes = {
  enum: EVENT_TYPES,
  isArray: true,
  required: false,
  minItems: 1,
  maxItems: MAX_EVENT_TYPES,
} as const;
const targetUrl = { format: 'uri', maxLength: 2048, example: 'https://hooks.example.com/iss' } as const;
const TENANT_ID_RULE = { message: 'tenant_id must be 1-128 characters of [A-Za-z0-9._-], starting alphanumeric' };

/** A field that may be left out; null is not that. */
const Optional = (): PropertyDecorator => ValidateIf((_: object, value: unknown) => value !== undefined);

/** The event types of a body, under either of their names. */
class EventTypesBody {
  @ApiProperty({ ...eventTypes, example: ['identity.snapshot.created'] })
  @Optional()
  @IsSetOf(EVENT_TYPES)
  event_types?: EventType[];

  @ApiProperty({ ...eventTypes, deprecated: true, description: 'Alias of event_types.' })
  @Optional()
  @IsSetOf(EVENT_TYPES)
  subscribed_event_types?: EventType[];
}

/** Body of `POST /v1/webhook-subscriptions` (specification, "Webhook subscriptions"). */
export class CreateWebhookSubscriptionBody extends EventTypesBody {
  @ApiProperty({ example: 'acme' })
  @IsString()
  @Matches(TENANT_ID, TENANT_ID_RULE)
  tenant_id: string;

  @ApiProperty(targetUrl)
  @IsString()
  @Length(1, 2048)
  target_url: string;
}

/** Body of `PATCH /v1/webhook-subscriptions/{subscription_id}`: what is left out stays. */
export class UpdateWebhookSubscriptionBody extends EventTypesBody {
  @ApiProperty({ ...targetUrl, required: false })
  @Optional()
  @IsString()
  @Length(1, 2048)
  target_url?: string;

  @ApiProperty({ enum: STATUSES, required: false, example: 'disabled' })
  @Optional()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];
}

/** Body of `POST …/rotate-secret`, which may be left out. */
export class RotateSecretBody {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: MAX_GRACE_SECONDS,
    default: 0,
    required: false,
    example: 86_400,
    description: 'For so long `webhook-signature` carries a signature of the old secret too. 0: it stops at once.',
  })
  @Optional()
  @IsInt()
  @Min(0)
  @Max(MAX_GRACE_SECONDS)
  grace_seconds?: number;
}

/** Query of the list. */
export class ListWebhookSubscriptionsQuery extends PageQuery {
  @ApiProperty({
    pattern: TENANT_ID.source,
    example: 'acme',
    description: 'The tenant whose subscriptions are listed.',
  })
  @IsString()
  @Matches(TENANT_ID, TENANT_ID_RULE)
  tenant_id: string;
}
