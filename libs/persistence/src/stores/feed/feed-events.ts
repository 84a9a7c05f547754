import {
  type EventType,
  grantData,
  type LogEntryType,
  type LogFact,
  RULES,
  sharedSnapshotCreatedData,
  type SnapshotCreatedFact,
} from '@iss/domain';
import { type Columns, columns } from '../../sql/columns';
import type { TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { grantedColumns } from '../facts/access-facts';
import { type EventFor, wanted, wantedAt, writeEvents } from '../webhooks/event-writes';
import { LIVE_GRANTS_ON } from './shared-with';

/** A grant as its events tell of it. */
export type GrantOfEvent = Parameters<typeof grantData>[0];

/** Of the grant `g`, whose subject is `s`. */
const GRANT_OF_EVENT: Columns<GrantOfEvent> = {
  grantId: 'g.grant_id',
  ownerTenantId: 'g.grantor_tenant_id',
  granteeTenantId: 'g.grantee_tenant_id',
  ...grantedColumns(),
  scopes: 'g.scopes',
  expiresAt: 'g.expires_at',
};

/** Columns of a grant for its events, as the member `granted` of a row. */
export const grantOfEvent = (): string => columns(GRANT_OF_EVENT, 'granted?');

type GrantEventType = Extract<EventType, `grant.${string}`>;

/** What both sides of a grant are told when the log has such an entry. */
const TOLD: Record<Exclude<LogEntryType, 'snapshot.created'>, GrantEventType | null> = {
  'grant.created': 'grant.created',
  'grant.changed': 'grant.changed',
  'grant.revoked': 'grant.revoked',
  'tenant.owner_changed': null,
  // Told where it is done.
  'subject.erased': null,
};

/** An entry that has come into the feeds. */
export interface FedEntry {
  logIndex: number;
  fact: LogFact;
  subjectKey: number | null;
  granted: GrantOfEvent | null;
  /** Whether anybody holds a live grant on its subject. */
  hasReaders: boolean;
}

interface SharedInput {
  place: number;
  subjectKey: number;
  owner: string;
  at: string;
}

const READERS: EventType = 'shared.snapshot.created';

/** Who may read these at this moment, by a grant that was there when they were written, and asked then to be told. */
const READERS_TOLD = statement<{ inputs: readonly SharedInput[] }, { place: number; tenantId: string }>(
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
 * Writes the events of entries in the transaction that takes them into the feeds, so that each is told of once, to whoever
 * wanted to know when it happened. What happened before `beganAt` is told to nobody. Their ids.
 */
export async function tellOf(sql: TransactionSql, entries: readonly FedEntry[], beganAt: Date): Promise<string[]> {
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
  const readers = await sql.run(READERS_TOLD, { inputs });
  return readers.flatMap(({ place, tenantId }) => {
    const fact = facts[place];
    if (fact === undefined) return [];
    const data = sharedSnapshotCreatedData({ ...fact, ownerTenantId: fact.tenantId });
    return [{ tenantId, type: 'shared.snapshot.created', at: fact.createdAt, data, snapshotId: fact.snapshotId }];
  });
}

function toParties({ fact, granted }: FedEntry): EventFor[] {
  if (granted === null || fact.type === 'snapshot.created') return [];
  const type = TOLD[fact.type];
  if (type === null) return [];
  // What the entry says of it, where it says so: the grant may have become another one since.
  return toBothSides(
    type,
    { ...granted, ...('scopes' in fact ? { scopes: fact.scopes, expiresAt: fact.expiresAt } : {}) },
    timeOf(fact),
  );
}

/** The event for the owner and for the grantee. */
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
