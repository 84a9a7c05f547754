import {
  type EventType,
  grantData,
  type LogEntryType,
  type LogFact,
  RULES,
  sharedSnapshotCreatedData,
  type SnapshotCreatedFact,
} from '@iss/domain';
import type { TransactionSql } from '../../sql/sql';
import { fragmentText } from '../../sql/sql-files';
import { statement } from '../../sql/statement';
import { type EventFor, wanted, wantedAt, writeEvents } from '../webhooks/event-writes';
import { LIVE_GRANTS_ON } from './shared-with';

/** The data of a grant in its events. */
export type GrantOfEvent = Parameters<typeof grantData>[0];

/** Returns the columns of a grant for its events, as the member `granted` of a row. */
export const grantOfEvent = (): string => fragmentText('grant_of_event');

type GrantEventType = Extract<EventType, `grant.${string}`>;

/** The event that both parties of a grant receive for each type of log entry. */
const EVENT_OF_ENTRY: Record<Exclude<LogEntryType, 'snapshot.created'>, GrantEventType | null> = {
  'grant.created': 'grant.created',
  'grant.changed': 'grant.changed',
  'grant.revoked': 'grant.revoked',
  'tenant.owner_changed': null,
  // `ErasureStore` stores this event.
  'subject.erased': null,
};

/** A log entry that was added to the feeds. */
export interface FedEntry {
  logIndex: number;
  fact: LogFact;
  subjectKey: number | null;
  granted: GrantOfEvent | null;
  /** True if anybody has a live grant on its subject. */
  hasReaders: boolean;
}

interface SharedInput {
  place: number;
  subjectKey: number;
  owner: string;
  at: string;
}

const READERS: EventType = 'shared.snapshot.created';

/**
 * Selects the tenants that may read the snapshots now, by a grant that existed when they were written, and that had subscribed by
 * then.
 */
const SUBSCRIBED_READERS = statement<{ inputs: readonly SharedInput[] }, { place: number; tenantId: string }>(
  'feed_readers_told',
  `SELECT DISTINCT i.place, g.grantee_tenant_id AS "tenantId"
  FROM unnest(:inputs.place::int[], :inputs.subjectKey::bigint[], :inputs.owner::text[], :inputs.at::text[])
         AS i(place, subject_key, owner, at)
 CROSS JOIN LATERAL (${LIVE_GRANTS_ON('i.subject_key', 'i.owner')}) g
 WHERE g.scopes && '{${RULES.followShared.subject.join()}}'
   AND date_trunc('milliseconds', g.created_at) <= i.at::timestamptz
   AND ${wantedAt('g.grantee_tenant_id', `'${READERS}'`, 'i.at::timestamptz')}
 ORDER BY 1, 2`,
);

/**
 * Writes the events of entries in the transaction that adds the entries to the feeds, so that each event is written once.
 * Recipients are the tenants that were subscribed when it happened. Facts older than `beganAt` have no events. Returns the ids of
 * the events.
 */
export async function writeEventsOf(
  sql: TransactionSql,
  entries: readonly FedEntry[],
  beganAt: Date,
): Promise<string[]> {
  const recent = entries.filter(({ fact }) => timeOf(fact) >= beganAt);
  const events: EventFor[] = await toReaders(sql, recent);
  events.push(...(await wanted(sql, recent.flatMap(toParties))));
  return writeEvents(sql, events);
}

async function toReaders(sql: TransactionSql, entries: readonly FedEntry[]): Promise<EventFor[]> {
  const facts: SnapshotCreatedFact[] = [];
  const inputs: SharedInput[] = [];
  for (const { fact, subjectKey, hasReaders } of entries) {
    if (fact.type !== 'snapshot.created' || subjectKey === null || !hasReaders) continue;
    inputs.push({ place: facts.length, subjectKey, owner: fact.tenantId, at: fact.createdAt.toISOString() });
    facts.push(fact);
  }
  if (facts.length === 0) return [];
  const readers = await sql.run(SUBSCRIBED_READERS, { inputs });
  return readers.flatMap(({ place, tenantId }) => {
    const fact = facts[place];
    if (fact === undefined) return [];
    const data = sharedSnapshotCreatedData({ ...fact, ownerTenantId: fact.tenantId });
    return [{ tenantId, type: 'shared.snapshot.created', at: fact.createdAt, data, snapshotId: fact.snapshotId }];
  });
}

function toParties({ fact, granted }: FedEntry): EventFor[] {
  if (granted === null || fact.type === 'snapshot.created') return [];
  const type = EVENT_OF_ENTRY[fact.type];
  if (type === null) return [];
  // Scopes and expiry come from the entry if it has them, because the grant may have changed since.
  return toBothSides(
    type,
    { ...granted, ...('scopes' in fact ? { scopes: fact.scopes, expiresAt: fact.expiresAt } : {}) },
    timeOf(fact),
  );
}

/** Returns the event for the owner and for the grantee. */
export function toBothSides(type: GrantEventType, grant: GrantOfEvent, at: Date): EventFor[] {
  const data = grantData(grant);
  return [grant.ownerTenantId, grant.granteeTenantId].map((tenantId) => ({
    tenantId,
    type,
    at,
    data,
    snapshotId: null,
  }));
}

function timeOf(fact: LogFact): Date {
  switch (fact.type) {
    case 'snapshot.created':
    case 'grant.created':
      return fact.createdAt;
    case 'grant.revoked':
      return fact.revokedAt;
    case 'grant.changed':
    case 'tenant.owner_changed':
      return fact.changedAt;
    case 'subject.erased':
      return fact.erasedAt;
  }
}
