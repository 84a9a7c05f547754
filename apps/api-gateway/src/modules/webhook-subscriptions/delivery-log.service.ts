import { randomUUID } from 'node:crypto';
import {
  buildEventBody,
  DomainError,
  type FinishedDeliveryStatus,
  newEventId,
  parseDateTime,
  requireAccess,
  RULES,
  subscriptionIdOf,
  TEST_EVENT_TYPE,
} from '@iss/domain';
import {
  type DeliveryFilter,
  DeliveryLogStore,
  type DeliveryRecord,
  hostOf,
  type LogAccess,
  type LogReader,
  type Page,
  type PageRequest,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { EventHandOver } from '../../events/event-hand-over';

/** The most deliveries that one replay call makes due: one statement and ten jobs. */
const MAX_REPLAYED = 1_000;
const REPLAY_LOOKS_AT = 50_000;
const FAILED: readonly FinishedDeliveryStatus[] = ['dead', 'skipped'];

/** A filter as it was sent: times are texts. */
export type DeliveryQuery = Pick<DeliveryFilter, 'status' | 'eventType'> & { from: string | null; to: string | null };

export interface ReplayRequest {
  from: string;
  to: string | null;
  /** Null: deliveries that failed or were skipped. */
  status: FinishedDeliveryStatus | null;
}

/** Reads the delivery log and sends deliveries again. */
@Injectable()
export class DeliveryLogService {
  constructor(
    private readonly log: DeliveryLogStore,
    private readonly handOver: EventHandOver,
  ) {}

  /**
   * Returns deliveries, also of a deleted subscription. Throws `not_found`, `forbidden`, or `validation_error` that
   * names the parameter.
   */
  async page(reader: LogReader, query: DeliveryQuery, at: PageRequest): Promise<Page<DeliveryRecord>> {
    const from = query.from === null ? null : readTime(query.from, '/query/from');
    const to = readEnd(query.to, from, '/query/to');
    const { page, ...access } = await this.log.page(reader, { ...query, from, to }, at);
    requireSubscription(access);
    return page;
  }

  /** Returns one delivery with the body that is sent. */
  async find(reader: LogReader, deliveryId: string): Promise<DeliveryRecord & { body: string }> {
    return (await this.require(reader, deliveryId)).delivery;
  }

  /** Sends a finished delivery again. Throws `conflict` while it is pending or its subscription is disabled. */
  async redeliver(reader: LogReader, deliveryId: string): Promise<DeliveryRecord> {
    requireLive((await this.require(reader, deliveryId)).subscription);
    const isDue = await this.log.redeliver(reader.subscriptionId, deliveryId);
    const { subscription, delivery } = await this.require(reader, deliveryId);
    if (!isDue) {
      requireActive(subscription);
      throw new DomainError(
        'conflict',
        `The delivery is ${delivery.status} and will be sent without this request. Only a finished delivery can ` +
          'be sent again.',
      );
    }
    this.wake(reader, subscription, [deliveryId]);
    return delivery;
  }

  /**
   * Sends finished deliveries again, oldest first, up to a limit. `nextFrom` is where the next call continues; null at
   * the end.
   */
  async replay(reader: LogReader, request: ReplayRequest): Promise<{ count: number; nextFrom: Date | null }> {
    const from = readTime(request.from, '/from');
    const to = readEnd(request.to, from, '/to');
    const subscription = await this.requireActive(reader);
    const { deliveryIds, nextFrom } = await this.log.replay(reader.subscriptionId, {
      from,
      to,
      statuses: request.status === null ? FAILED : [request.status],
      limit: MAX_REPLAYED,
      look: REPLAY_LOOKS_AT,
    });
    this.wake(reader, subscription, deliveryIds);
    return { count: deliveryIds.length, nextFrom };
  }

  /** Sends `webhook.test` only to this subscription. Throws `conflict` while it is disabled. */
  async test(reader: LogReader, trace: { requestId: string; traceparent: string }): Promise<DeliveryRecord> {
    const subscription = await this.requireActive(reader);
    const [eventId, deliveryId] = [newEventId(), randomUUID()];
    const { subscriptionId } = reader;
    const isSent = await this.log.addTest(subscriptionId, {
      deliveryId,
      eventId,
      eventType: TEST_EVENT_TYPE,
      body: buildEventBody({
        eventId,
        type: TEST_EVENT_TYPE,
        createdAt: new Date(),
        tenantId: subscription.tenantId,
        data: { subscription_id: subscriptionIdOf(subscriptionId) },
      }),
      ...trace,
    });
    if (!isSent) throw disabled();
    const { delivery } = await this.require(reader, deliveryId);
    this.wake(reader, subscription, [deliveryId]);
    return delivery;
  }

  private async requireActive(reader: LogReader): Promise<Subscription> {
    return requireActive(requireLive(requireSubscription(await this.log.access(reader))));
  }

  private async require(
    reader: LogReader,
    deliveryId: string,
  ): Promise<{ subscription: Subscription; delivery: DeliveryRecord & { body: string } }> {
    const { delivery, ...access } = await this.log.find(reader, deliveryId);
    const subscription = requireSubscription(access);
    if (delivery === null)
      throw new DomainError('not_found', 'No such delivery of this subscription. List its deliveries for their ids.');
    return { subscription, delivery };
  }

  private wake(
    { subscriptionId }: LogReader,
    { tenantId, founderId, targetUrl }: Subscription,
    deliveryIds: readonly string[],
  ): void {
    const targetHost = hostOf(targetUrl);
    this.handOver.wake(
      deliveryIds.map((deliveryId) => ({ deliveryId, subscriptionId, tenantId, founderId, targetHost })),
    );
  }
}

type Subscription = NonNullable<LogAccess['subscription']>;

function requireSubscription({ facts, subscription }: LogAccess): Subscription {
  if (subscription === null) throw noSuchSubscription();
  requireAccess(facts, RULES.useWebhooks);
  return subscription;
}

function requireLive(subscription: Subscription): Subscription {
  if (subscription.isDeleted) throw noSuchSubscription();
  return subscription;
}

function requireActive(subscription: Subscription): Subscription {
  if (subscription.status !== 'active') throw disabled();
  return subscription;
}

function noSuchSubscription(): DomainError {
  return new DomainError('not_found', "No such webhook subscription. List the tenant's subscriptions for their ids.");
}

function disabled(): DomainError {
  return new DomainError(
    'conflict',
    'The subscription is disabled, so nothing is sent. PATCH it with {"status": "active"}, then try again.',
  );
}

function readTime(text: string, path: string): Date {
  const time = parseDateTime(text);
  if (time === null) throw invalid(path, 'must be an RFC 3339 date-time with a timezone');
  return time;
}

function readEnd(text: string | null, from: Date | null, path: string): Date | null {
  const to = text === null ? null : readTime(text, path);
  if (from !== null && to !== null && from > to) throw invalid(path, 'must not be earlier than from');
  return to;
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `${path.split('/').at(-1)} ${message}.`, [
    { path, message, code: 'invalid_value' },
  ]);
}
