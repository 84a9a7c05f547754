import type { PageRequest, PagePosition } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

const DELETE_DELIVERIES = statement<{ days: number; limit: number }, { deleted: number }>(
  'retention_delete_deliveries',
);

const DELETE_EVENTS = statement<
  { days: number; limit: number; fannedOutAt: string | number | null; eventId: string | number | null },
  { position: PagePosition; isDeleted: boolean }
>('retention_delete_events');

const DELETE_RATE_WINDOWS = statement<{ limit: number }, { deleted: number }>('retention_delete_rate_windows');
const DELETE_OFFERS = statement<{ limit: number }, { deleted: number }>('retention_delete_offers');
const DELETE_PRESENTATION_REQUESTS = statement<{ limit: number }, { deleted: number }>(
  'retention_delete_presentation_requests',
);

/**
 * Deletes expired rows in batches that are found by index. Rows that are locked are skipped, so writers never wait, and any
 * number of processes may delete.
 */
export class RetentionStore {
  constructor(private readonly sql: Sql) {}

  /** Deletes at most `limit` deliveries that ended more than `days` ago, with their attempts. Returns their number. */
  async deleteDeliveries(days: number, limit: number): Promise<number> {
    return (await this.sql.one(DELETE_DELIVERIES, { days, limit })).deleted;
  }

  /**
   * Examines `limit` events that were fanned out more than `days` ago, oldest first, and deletes those without deliveries. A
   * delivery needs its event's body while it may be sent again. Returns the number of deleted events and the next position, or
   * null at the end.
   */
  async deleteEvents(
    days: number,
    { limit, after }: PageRequest,
  ): Promise<{ deleted: number; next: PagePosition | null }> {
    const [fannedOutAt = null, eventId = null] = after ?? [];
    const rows = await this.sql.run(DELETE_EVENTS, { days, limit, fannedOutAt, eventId });
    return {
      deleted: rows.filter(({ isDeleted }) => isDeleted).length,
      next: rows.length === limit ? (rows.at(-1)?.position ?? null) : null,
    };
  }

  /** Deletes at most `limit` old rate-limit windows. Returns their number. */
  async deleteRateWindows(limit: number): Promise<number> {
    return (await this.sql.one(DELETE_RATE_WINDOWS, { limit })).deleted;
  }

  /** Deletes at most `limit` offers of credentials that nobody can take any more. Returns their number. */
  async deleteOffers(limit: number): Promise<number> {
    return (await this.sql.one(DELETE_OFFERS, { limit })).deleted;
  }

  /** Deletes at most `limit` presentation requests that expired an hour ago. Returns their number. */
  async deletePresentationRequests(limit: number): Promise<number> {
    return (await this.sql.one(DELETE_PRESENTATION_REQUESTS, { limit })).deleted;
  }
}
