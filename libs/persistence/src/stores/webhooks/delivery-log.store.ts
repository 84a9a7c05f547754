import type {
  AccessFacts,
  DeliveryStatus,
  FinishedDeliveryStatus,
  SkippedReason,
  SubscriptionStatus,
} from '@iss/domain';
import {
  type Before,
  before,
  type ListRow,
  type Page,
  type PagePosition,
  type PageRequest,
  toList,
} from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** The result of one attempt. `statusCode` is null if there was no answer; `errorPhase` and `error` are null after a success. */
export interface AttemptRecord {
  attempt: number;
  startedAt: Date;
  latencyMs: number;
  statusCode: number | null;
  errorPhase: string | null;
  error: string | null;
}

/** The delivery of one event to one subscription. Ids are bare UUIDs. */
export interface DeliveryRecord {
  deliveryId: string;
  eventId: string;
  eventType: string;
  subscriptionId: string;
  status: DeliveryStatus;
  /** The number of attempts ever started, including those before a redelivery. */
  attemptCount: number;
  /** When the next attempt is due; null unless the delivery is pending. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** The id of the request that caused the event. */
  requestId: string | null;
  traceparent: string | null;
  /** Null unless it is `skipped`, and if an earlier release skipped it without a reason. */
  skippedReason: SkippedReason | null;
  /** The last fifty, oldest first. */
  attempts: AttemptRecord[];
}

/** A subscription and the principal that reads its log. */
export interface LogReader {
  subscriptionId: string;
  principalId: string;
}

/** The subscription or null, and the caller's access facts in its tenant. */
export interface LogAccess {
  facts: AccessFacts;
  subscription: {
    tenantId: string;
    /** The founder, as in {@link PendingDelivery}. */
    founderId: string;
    targetUrl: string;
    status: SubscriptionStatus;
    isDeleted: boolean;
  } | null;
}

/** A null member selects all. Both times are inclusive, to the millisecond. */
export interface DeliveryFilter {
  status: DeliveryStatus | null;
  eventType: string | null;
  from: Date | null;
  to: Date | null;
}

export interface Replay {
  from: Date;
  to: Date | null;
  statuses: readonly FinishedDeliveryStatus[];
  /** The maximum number of deliveries to replay. */
  limit: number;
  /** The maximum number of deliveries to examine, whatever their status. */
  look: number;
}

export interface Replayed {
  deliveryIds: string[];
  /** The creation time of the first delivery that was not replayed for lack of room, or not examined; null if there is none. */
  nextFrom: Date | null;
}

export interface TestDelivery {
  deliveryId: string;
  eventId: string;
  eventType: string;
  body: string;
  requestId: string;
  traceparent: string;
}

/** A delivery from a row, in which the times within JSON are strings. */
type Stored<Delivery extends DeliveryRecord> = Omit<Delivery, 'attempts'> & {
  attempts: (Omit<AttemptRecord, 'startedAt'> & { startedAt: string })[] | null;
};

const ACCESS = statement<LogReader, LogAccess>('delivery_log_access');

const PAGE = statement<
  LogReader & DeliveryFilter & Before,
  ListRow<AccessFacts, Stored<DeliveryRecord>> &
    Pick<LogAccess, 'subscription'> & {
      /** The last examined delivery, if the page is short although there may be more. */
      lookedTo: PagePosition | null;
    }
>('delivery_log_page');

const FIND = statement<
  LogReader & { deliveryId: string },
  LogAccess & { delivery: Stored<DeliveryRecord & { body: string }> | null }
>('delivery_log_find');

const REDELIVER = statement<{ subscriptionId: string; deliveryId: string }, { deliveryId: string }>(
  'delivery_redeliver',
);

const REPLAY = statement<Replay & { subscriptionId: string }, Replayed>('delivery_replay');

const TEST = statement<TestDelivery & { subscriptionId: string }, { deliveryId: string }>('delivery_test');

/** Deliveries of one subscription for its tenant, with redelivery, replay and tests. */
export class DeliveryLogStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the subscription and the caller's access facts, without deliveries. */
  access(reader: LogReader): Promise<LogAccess> {
    return this.sql.one(ACCESS, reader);
  }

  /**
   * Returns a page of the subscription's deliveries, newest first, even if it is deleted. With a filter, a page may be short or
   * empty and still have a next page, because the number of examined deliveries is limited.
   */
  async page(
    reader: LogReader,
    filter: DeliveryFilter,
    request: PageRequest,
  ): Promise<LogAccess & { page: Page<DeliveryRecord> }> {
    // In turn, because it may read many deliveries that the filter removes.
    const rows = await this.sql.runInTurn(reader.principalId, PAGE, { ...reader, ...filter, ...before(request) });
    const { facts, page } = toList(rows, request.limit);
    const subscription = rows[0]?.subscription ?? null;
    const next = page.next ?? rows[0]?.lookedTo ?? null;
    return { facts, subscription, page: { items: page.items.map(withAttempts), next } };
  }

  /** Returns one delivery of the subscription with the exact text that is sent, or null. */
  async find(
    reader: LogReader,
    deliveryId: string,
  ): Promise<LogAccess & { delivery: (DeliveryRecord & { body: string }) | null }> {
    const { delivery, ...access } = await this.sql.one(FIND, { ...reader, deliveryId });
    return { ...access, delivery: delivery === null ? null : { ...withAttempts(delivery), body: delivery.body } };
  }

  /**
   * Makes a finished delivery of an active subscription due again. Returns true for one of many concurrent callers, and false
   * otherwise.
   */
  async redeliver(subscriptionId: string, deliveryId: string): Promise<boolean> {
    return (await this.sql.run(REDELIVER, { subscriptionId, deliveryId })).length > 0;
  }

  /** Makes finished deliveries of an active subscription due again, oldest first, up to the limit. */
  async replay(subscriptionId: string, replay: Replay): Promise<Replayed> {
    const [replayed] = await this.sql.runInTurn(subscriptionId, REPLAY, { subscriptionId, ...replay });
    if (replayed === undefined) throw new Error('delivery_replay answered no row');
    return replayed;
  }

  /** Stores an event and its delivery to this subscription only. Returns false if the subscription is not active. */
  async addTest(subscriptionId: string, test: TestDelivery): Promise<boolean> {
    return (await this.sql.run(TEST, { subscriptionId, ...test })).length > 0;
  }
}

function withAttempts({ attempts, ...delivery }: Stored<DeliveryRecord>): DeliveryRecord {
  const began = (attempts ?? []).map((attempt) => ({ ...attempt, startedAt: new Date(attempt.startedAt) }));
  return { ...delivery, attempts: began };
}
