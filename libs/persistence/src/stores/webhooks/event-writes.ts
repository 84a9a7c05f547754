import { buildEventBody, type EventData, type EventType, newEventId } from '@iss/domain';
import { inputRows } from '../../sql/input';
import type { Sql, TransactionSql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';

/** An event for the subscriptions that a tenant had at that time. */
export type EventFor<Type extends EventType = EventType> = {
  [One in Type]: {
    tenantId: string;
    type: One;
    at: Date;
    data: EventData[One];
    /**
     * The snapshot that the event is about. The tenant's right to it is checked before each attempt. Null if the tenant may
     * always know of the event.
     */
    snapshotId: string | null;
  };
}[Type];

/**
 * Selects true if the tenant already had a live subscription to the type of event at that time, else null. All parameters are
 * SQL.
 */
export const wantedAt = (tenantId: string, eventType: string, at: string): string =>
  `(SELECT true FROM webhook_subscription_types y
     WHERE y.tenant_id = ${tenantId} AND y.event_type = ${eventType} AND y.created_at <= ${at} LIMIT 1)`;

const WANTED = statement<{ inputs: readonly { tenantId: string; type: string; at: string }[] }, { isWanted: boolean }>(
  'events_wanted',
  `SELECT ${wantedAt('i.tenant_id', 'i.type', 'i.at::timestamptz')} IS TRUE AS "isWanted"
  FROM ${inputRows({ tenant_id: 'text', type: 'text', at: 'text' })}
 ORDER BY i.ord`,
);

interface EventRow {
  eventId: string;
  tenantId: string;
  type: string;
  body: string;
  snapshotId: string | null;
  at: string;
}

const WRITE = statement<{ inputs: readonly EventRow[] }>(
  'events_write',
  `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, snapshot_id, created_at)
SELECT i.event_id, i.tenant_id, i.type, i.body, i.snapshot_id, i.at::timestamptz
  FROM ${inputRows({ event_id: 'uuid', tenant_id: 'text', type: 'text', body: 'text', snapshot_id: 'uuid', at: 'text' })}`,
);

/** Returns the events that a subscription wants. */
export async function wanted<Event extends EventFor>(sql: TransactionSql, events: readonly Event[]): Promise<Event[]> {
  if (events.length === 0) return [];
  const inputs = events.map(({ tenantId, type, at }) => ({ tenantId, type, at: at.toISOString() }));
  const answers = await sql.run(WANTED, { inputs });
  return events.filter((_, place) => answers[place]?.isWanted === true);
}

/** Writes the events in the transaction of the change. Returns their ids, for a wake-up after the commit. */
export async function writeEvents(sql: TransactionSql, events: readonly EventFor[]): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = events.map((event) => rowOf(event));
  await sql.run(WRITE, { inputs: rows });
  return rows.map(({ eventId }) => eventId);
}

/** The result of one step that announces deadlines. */
export interface Announced {
  /** The ids of the stored events. An event is stored only if a subscription wants it. */
  eventIds: string[];
  /** True if there may be more. */
  isMore: boolean;
}

/**
 * Announces up to `limit` deadlines that have passed, in one transaction. `due` claims its rows, so each is announced once, even
 * with concurrent calls.
 */
export function announceDue<Row extends object>(
  sql: Sql,
  due: Statement<{ limit: number }, Row>,
  limit: number,
  toEvents: (row: Row) => readonly EventFor[],
): Promise<Announced> {
  return sql.transaction(async (transaction) => {
    const rows = await transaction.run(due, { limit });
    const events = await wanted(transaction, rows.flatMap(toEvents));
    return { eventIds: await writeEvents(transaction, events), isMore: rows.length === limit };
  });
}

function rowOf<Type extends EventType>({ tenantId, type, at, data, snapshotId }: EventFor<Type>): EventRow {
  const eventId = newEventId();
  const body = buildEventBody({ eventId, type, createdAt: at, tenantId, data });
  return { eventId, tenantId, type, body, snapshotId, at: at.toISOString() };
}
