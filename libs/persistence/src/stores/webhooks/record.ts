import { buildEventBody, type EventData, type EventType, newEventId } from '@iss/domain';
import type { Sql, TransactionSql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';

/** The request that causes a fact. The deliveries of its events name it in their headers. */
export interface EventTrace {
  requestId: string;
  /** W3C Trace Context. */
  traceparent: string;
}

/** A fact that tenants may subscribe to. Each of its tenants gets an event of its own. */
export type Fact<Type extends EventType = EventType> = {
  [One in Type]: {
    type: One;
    /** The time of the fact by the clock of the database. Only subscriptions that existed then get an event. */
    at: Date;
    data: EventData[One];
    tenantIds: readonly string[];
    /** The snapshot that the fact is about. The tenant's right to it is checked before each attempt. Absent without a check. */
    snapshotId?: string;
    /** Absent if no request causes the fact. */
    trace?: EventTrace;
  };
}[Type];

const RECORD = statement<{ inputs: readonly ReturnType<typeof inputsOf>[number][] }, { eventId: string }>(
  'outbox_record',
);

/**
 * Records facts in the transaction of the change: one event for each tenant with a subscription. Returns the ids of the events,
 * for a wake-up after the commit.
 */
export async function record(sql: TransactionSql, facts: readonly Fact[]): Promise<string[]> {
  const inputs = facts.flatMap((fact) => inputsOf(fact));
  if (inputs.length === 0) return [];
  return (await sql.run(RECORD, { inputs })).map(({ eventId }) => eventId);
}

/** The result of one step that records facts. */
export interface FactStep {
  /** The ids of the events. */
  eventIds: string[];
  /** True if there may be more facts. */
  isMore: boolean;
}

/**
 * Records up to `limit` deadlines that have passed, in one transaction. `due` claims its rows, so each is recorded once, even
 * with concurrent calls.
 */
export function recordDue<Row extends object>(
  sql: Sql,
  due: Statement<{ limit: number }, Row>,
  limit: number,
  factOf: (row: Row) => Fact | null,
): Promise<FactStep> {
  return sql.transaction(async (transaction) => {
    const rows = await transaction.run(due, { limit });
    const eventIds = await record(
      transaction,
      rows.flatMap((row) => factOf(row) ?? []),
    );
    return { eventIds, isMore: rows.length === limit };
  });
}

function inputsOf<Type extends EventType>({ type, at, data, tenantIds, snapshotId, trace }: Fact<Type>) {
  return tenantIds.map((tenantId) => {
    const eventId = newEventId();
    return {
      eventId,
      tenantId,
      type,
      body: buildEventBody({ eventId, type, createdAt: at, tenantId, data }),
      snapshotId: snapshotId ?? null,
      at: at.toISOString(),
      requestId: trace?.requestId ?? null,
      traceparent: trace?.traceparent ?? null,
    };
  });
}
