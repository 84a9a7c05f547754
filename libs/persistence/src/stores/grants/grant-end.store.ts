import type { EventType } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type FactStep, recordDue } from '../webhooks/record';
import { grantFact, type GrantOfFact } from './grant-fact';

/** The number of days before its expiry at which both parties of a grant are notified. */
export const DAYS_AHEAD = 7;

interface Due {
  granted: GrantOfFact | null;
  now: Date;
}

const STARTED = statement<{ limit: number }, Due>('grants_started');
const EXPIRING = statement<{ limit: number }, Due>('grants_expiring');
const EXPIRED = statement<{ limit: number }, Due>('grants_expired');

/** Announces the start and the expiry of grants to both parties. */
export class GrantEndStore {
  constructor(private readonly sql: Sql) {}

  /** Announces up to `limit` grants that have started, once per start. The event's time is the start. */
  announceStarted(limit: number): Promise<FactStep> {
    return this.announce(STARTED, 'grant.started', limit, ({ granted }) => granted?.startsAt ?? null);
  }

  /**
   * Announces up to `limit` grants that expire within {@link DAYS_AHEAD} days, once per expiry. Grants that have already
   * expired are claimed without an event.
   */
  announceExpiring(limit: number): Promise<FactStep> {
    return this.announce(EXPIRING, 'grant.expiring', limit, ({ granted, now }) =>
      granted !== null && granted.expiresAt !== null && granted.expiresAt > now ? now : null,
    );
  }

  /** Announces up to `limit` expired grants. The event's time is the expiry, so later subscriptions do not get it. */
  announceExpired(limit: number): Promise<FactStep> {
    return this.announce(EXPIRED, 'grant.expired', limit, ({ granted }) => granted?.expiresAt ?? null);
  }

  private announce(
    due: typeof EXPIRING,
    type: Extract<EventType, 'grant.started' | 'grant.expiring' | 'grant.expired'>,
    limit: number,
    happenedAt: (due: Due) => Date | null,
  ): Promise<FactStep> {
    return recordDue(this.sql, due, limit, (row) => {
      const at = happenedAt(row);
      return row.granted === null || at === null ? null : grantFact(type, row.granted, at);
    });
  }
}
