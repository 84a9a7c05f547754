import {
  buildEventBody,
  type EventType,
  getAt,
  parseStoredJson,
  shownChanges,
  snapshotCreatedData,
  UPDATE_EVENTS,
  updateData,
  type UpdateEventType,
} from '@iss/domain';
import type { Page, PagePosition } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { fragmentText } from '../../sql/sql-files';
import { statement } from '../../sql/statement';
import type { Fact } from './record';
import { founderOf, hostOf, type SearchBounds, type PendingDelivery, targetOf } from './pending-delivery';

/** The result of one step of a fan-out. */
export interface FanOutStep {
  /** New deliveries, which are due now. */
  pending: PendingDelivery[];
  /** The number of deliveries to disabled subscriptions. They are not sent unless replayed. */
  skipped: number;
  /** Events that may have further subscriptions and need another step. */
  unfinished: string[];
}

/** The maximum number of deliveries per event in one step. */
export interface StepSizes {
  /** The maximum for an event without deliveries. */
  first: number;
  /** The maximum for an event with deliveries. */
  next: number;
}

interface FanOutRow {
  pending: (Omit<PendingDelivery, 'targetHost'> & { targetUrl: string })[];
  skipped: number;
  unfinished: string[];
}

/** An event with the row that it is about. */
type EventInRow = Pick<Fact, 'type' | 'at'> & {
  eventId: string;
  tenantId: string;
  /** Null until the first step of an event that {@link recordIn} recorded. */
  body: string | null;
  snapshot: Parameters<typeof snapshotCreatedData>[0] | null;
  update: Parameters<typeof updateData>[1] | null;
};

/**
 * Reads the data of bodies, and the bodies about snapshots. All workers build the same body, and one is stored. The rows never
 * change, except that an update changes once, before its event, and that an erasure destroys what changed in a version.
 */
const UNBUILT = statement<{ eventIds: readonly string[] }, EventInRow>(
  'outbox_unbuilt',
  `SELECT o.event_id AS "eventId", o.tenant_id AS "tenantId", o.event_type AS "type", o.created_at AS "at", o.body,
       n.snapshot_id AS "snapshot?.snapshotId", n.snapshot_version AS "snapshot?.snapshotVersion",
       s.subject_type AS "snapshot?.subjectType", s.subject_id AS "snapshot?.subjectId",
       encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash", encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
       n.change_kind AS "snapshot?.changeKind", ${fragmentText('changed_paths_of', 'n.subject_key', 'n.snapshot_version')} AS "snapshot?.changedPaths",
       u.update_id AS "update?.updateId", s.subject_type AS "update?.subjectType", s.subject_id AS "update?.subjectId",
       u.base_snapshot_id AS "update?.baseSnapshotId", u.base_snapshot_version AS "update?.baseSnapshotVersion",
       u.proposed_by AS "update?.proposedBy", u.applied_snapshot_id AS "update?.appliedSnapshotId"
  FROM unnest(:eventIds::uuid[]) AS i(event_id)
 CROSS JOIN LATERAL (SELECT * FROM outbox_events o WHERE o.event_id = i.event_id AND (o.body IS NULL OR o.snapshot_id IS NOT NULL) LIMIT 1) o
  LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = o.snapshot_id LIMIT 1) n ON true
  LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.update_id = o.update_id LIMIT 1) u ON true
 CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = coalesce(n.subject_key, u.subject_key) LIMIT 1) s`,
);

/**
 * Creates the next deliveries of events.
 *
 * An event takes its subscriptions in the order of their ids, so its last delivery tells any worker where to continue. It is done
 * when a step finds fewer subscriptions than it may take.
 *
 * Row locks claim the events, so that two workers never take the same step. The unique key of deliveries is a second, independent
 * safeguard: a statement that began before another worker's step was committed repeats that step, and creates nothing.
 *
 * Rows are found by their key first and checked afterwards; otherwise the planner may scan the index of all waiting events. For
 * the same reason, the last delivery is found as the largest key of the event.
 *
 * The body is stored with the first deliveries, so every attempt finds one, and always the same.
 *
 * A subscription with paths gets the event of a version only if something at, below or above them changed. A step reads at most
 * the subscriptions of one tenant to one type.
 */
const FAN_OUT = statement<
  {
    eventIds: readonly string[];
    bodies: readonly (string | null)[];
    /** JSON arrays; null for events that do not depend on paths. */
    changedPaths: readonly (string | null)[];
    first: number;
    next: number;
  },
  FanOutRow
>(
  'outbox_fan_out',
  `WITH asked AS MATERIALIZED (
     SELECT event_id, tenant_id, event_type, created_at, fanned_out_at, body IS NULL AS is_unbuilt,
            (:bodies::text[])[array_position(:eventIds::uuid[], event_id)] AS built,
            (:changedPaths::text[])[array_position(:eventIds::uuid[], event_id)]::json AS changed_paths
       FROM outbox_events
      WHERE event_id = ANY (:eventIds::uuid[])
        FOR UPDATE SKIP LOCKED
   ), waiting AS MATERIALIZED (
     SELECT a.*, last.subscription_id AS reached,
            CASE WHEN a.changed_paths IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(a.changed_paths)) END AS changed,
            CASE WHEN last.subscription_id IS NULL THEN :first::int ELSE :next::int END AS size
       FROM asked a
       LEFT JOIN LATERAL (
              SELECT d.event_id, d.subscription_id FROM deliveries d
               WHERE (d.event_id, d.subscription_id) <= (a.event_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
               ORDER BY d.event_id DESC, d.subscription_id DESC LIMIT 1) last ON last.event_id = a.event_id
      WHERE a.fanned_out_at IS NULL AND (a.built IS NOT NULL OR NOT a.is_unbuilt)
   ), taken AS MATERIALIZED (
     SELECT w.event_id, w.tenant_id, w.event_type, w.is_unbuilt, w.built, next.subscription_ids, next.statuses,
            cardinality(next.subscription_ids) < w.size AS is_done
       FROM waiting w
      CROSS JOIN LATERAL (
              SELECT coalesce(array_agg(s.subscription_id), '{}') AS subscription_ids, array_agg(s.status) AS statuses
                FROM (SELECT s.subscription_id, s.status FROM webhook_subscription_types y
                       CROSS JOIN LATERAL (SELECT * FROM webhook_subscriptions s
                                            WHERE s.subscription_id = y.subscription_id LIMIT 1) s
                       WHERE y.tenant_id = w.tenant_id AND y.event_type = w.event_type AND y.created_at <= w.created_at
                         AND y.subscription_id > coalesce(w.reached, '00000000-0000-0000-0000-000000000000')
                         AND (s.paths IS NULL OR paths_touch(s.paths, w.changed))
                       ORDER BY y.subscription_id
                       LIMIT w.size) s) next
   ), created AS (
     INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, skipped_reason, finished_at)
     SELECT gen_random_uuid(), t.event_id, s.subscription_id, t.tenant_id, t.event_type,
            CASE s.status WHEN 'active' THEN 'pending' ELSE 'skipped' END,
            CASE s.status WHEN 'active' THEN NULL ELSE 'subscription_inactive' END,
            CASE s.status WHEN 'active' THEN NULL ELSE now() END
       FROM taken t CROSS JOIN LATERAL unnest(t.subscription_ids, t.statuses) AS s(subscription_id, status)
     ON CONFLICT (event_id, subscription_id) DO NOTHING
     RETURNING delivery_id, subscription_id, tenant_id, status
   ), done AS (
     UPDATE outbox_events o SET body = coalesce(o.body, t.built), fanned_out_at = CASE WHEN t.is_done THEN now() END
       FROM taken t WHERE o.event_id = t.event_id AND (t.is_done OR t.is_unbuilt)
   )
   SELECT coalesce(json_agg(json_build_object('deliveryId', c.delivery_id, 'subscriptionId', c.subscription_id,
                                              'tenantId', c.tenant_id, 'founderId', ${founderOf('c.tenant_id')},
                                              'targetUrl', s.target_url))
                     FILTER (WHERE c.status = 'pending'), '[]') AS pending,
          (count(*) FILTER (WHERE c.status = 'skipped'))::int AS skipped,
          ARRAY(SELECT event_id FROM taken WHERE NOT is_done) AS unfinished
     FROM created c ${targetOf('c.subscription_id')}`,
);

/**
 * Selects waiting events. The position is always present, so that a generic plan starts its scan there. Founders take turns, so
 * that many events of one do not hide the others.
 */
const WAITING = statement<
  {
    overdueMs: number;
    createdAt: string | number | null;
    eventId: string | number | null;
    rows: number;
    limit: number;
  },
  { eventId: string; looked: number; position: PagePosition }
>(
  'outbox_waiting',
  `WITH looked AS MATERIALIZED (
     SELECT event_id, tenant_id, created_at FROM outbox_events
      WHERE fanned_out_at IS NULL AND created_at < now() - :overdueMs * interval '1 millisecond'
        AND created_at >= coalesce(:createdAt::timestamptz, '-infinity')
        AND (created_at, event_id)
            > (coalesce(:createdAt::timestamptz, '-infinity'), coalesce(:eventId::uuid, '00000000-0000-0000-0000-000000000000'))
      ORDER BY created_at, event_id LIMIT :rows::int
   )
   SELECT o.event_id AS "eventId", (SELECT count(*) FROM looked)::int AS looked,
          (SELECT ARRAY[created_at::text, event_id::text] FROM looked ORDER BY looked.created_at DESC, looked.event_id DESC LIMIT 1) AS position
     FROM looked o
    ORDER BY row_number() OVER (PARTITION BY ${founderOf('o.tenant_id')} ORDER BY o.created_at, o.event_id), o.created_at, o.event_id
    LIMIT :limit::int`,
);

/** Events that were committed with their changes, until all of their deliveries exist. */
export class OutboxStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Takes one step with each of these events (bare UUIDs), in one statement. A step creates the next deliveries: one for each
   * subscription that the tenant had to this type when the event was committed. The first step also builds and stores the body.
   * Events that are unknown, done or claimed by another worker are skipped. An event is done once, when its last delivery exists;
   * until then any worker can continue.
   */
  async fanOut(eventIds: readonly string[], { first, next }: StepSizes): Promise<FanOutStep> {
    const events = await this.sql.run(UNBUILT, { eventIds });
    const built = new Map(events.map((event) => [event.eventId, event.body ?? bodyOf(event)]));
    const changed = new Map(
      events.map((event) => [
        event.eventId,
        event.snapshot === null ? null : pathsIn(built.get(event.eventId) ?? 'null'),
      ]),
    );
    const bodies = eventIds.map((eventId) => built.get(eventId) ?? null);
    const changedPaths = eventIds.map((eventId) => changed.get(eventId) ?? null);
    const step = await this.sql.one(FAN_OUT, { eventIds, bodies, changedPaths, first, next });
    const pending = step.pending.map(({ targetUrl, ...delivery }) => ({ ...delivery, targetHost: hostOf(targetUrl) }));
    return { ...step, pending };
  }

  /** Returns the ids of events whose wake-up was lost or is late. Founders take turns. */
  async waiting({ overdueMs, rows, limit, after }: SearchBounds): Promise<Page<string>> {
    const [createdAt = null, eventId = null] = after ?? [];
    const found = await this.sql.run(WAITING, { overdueMs, createdAt, eventId, rows, limit });
    const [first] = found;
    const next = first === undefined || first.looked < rows ? null : first.position;
    return { items: found.map((row) => row.eventId), next };
  }
}

function bodyOf({ snapshot, update, type, at: createdAt, ...ids }: EventInRow): string {
  const event = { ...ids, createdAt };
  if (snapshot !== null) {
    const data = snapshotCreatedData({ ...snapshot, changedPaths: shownChanges(snapshot.changedPaths, null) });
    return buildEventBody({ ...event, type: 'identity.snapshot.created', data });
  }
  if (update === null || !isOfUpdate(type)) throw new Error(`an event ${type} has neither a snapshot nor an update`);
  return buildEventBody({ ...event, type, data: updateData(type, update) });
}

function isOfUpdate(type: EventType): type is UpdateEventType {
  return Object.hasOwn(UPDATE_EVENTS, type);
}

/** Returns `changed_paths` of a body as a JSON array; null if everything may have changed. */
function pathsIn(body: string): string | null {
  const paths = getAt(parseStoredJson(body), ['data', 'changed_paths']);
  if (!Array.isArray(paths)) return null;
  return JSON.stringify(paths.filter((path) => typeof path === 'string').map(storablePath));
}

/** Cuts a path before a key that PostgreSQL cannot store. No path of a subscription has such keys. */
function storablePath(path: string): string {
  return path.replace(/\/[^/]*\p{Cc}.*$/su, '');
}
