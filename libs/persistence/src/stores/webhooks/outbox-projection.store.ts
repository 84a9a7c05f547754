import {
  type ChangeKind,
  type GrantTerms,
  type LogFact,
  momentOfFact,
  RULES,
  sharedSnapshotCreatedData,
  shownChanges,
  unionOf,
  type Visible,
} from '@iss/domain';
import { requireNothingHidden } from '../../schema-faults';
import type { Sql, TransactionSql } from '../../sql/sql';
import { fragmentText } from '../../sql/sql-files';
import { statement } from '../../sql/statement';
import { LIVE_GRANTS_ON } from '../feed/shared-with';
import { grantFact, type GrantOfFact } from '../grants/grant-fact';
import { FACT, FACT_OF_KEYS, factOf, type FactRow } from '../log/log-facts';
import { type Fact, record, type FactStep } from './record';

/** The maximum number of readers for the facts of one step. A single fact may have more. */
const MAX_READERS = 20_000;

/** A marked fact. All members but the id are null if its row is missing. */
interface MarkedFact extends FactRow {
  waitingId: number;
  subjectKey: number | null;
  content: { changeKind: ChangeKind; changedPaths: readonly string[] | null } | null;
  granted: GrantOfFact | null;
}

/** Claims the next marks. Other workers claim the following ones. */
const WAITING = statement<{ limit: number }, MarkedFact>(
  'outbox_marks',
  `WITH k AS MATERIALIZED (
  SELECT *, NULL::bigint AS owner_change_id, NULL::bigint AS erasure_id, false AS names_writer, false AS names_view, true AS names_paths
    FROM outbox_waiting ORDER BY waiting_id LIMIT :limit FOR UPDATE SKIP LOCKED
)
SELECT k.waiting_id::float8 AS "waitingId", s.subject_key::float8 AS "subjectKey",
  n.change_kind AS "content?.changeKind",
  ${fragmentText('changed_paths_of', 'n.subject_key', 'n.snapshot_version')} AS "content?.changedPaths",
  ${fragmentText('grant_of_fact')},
  ${FACT}
  FROM k
  ${FACT_OF_KEYS}
 ORDER BY k.waiting_id`,
);

const DELETE = statement<{ waitingIds: readonly number[] }>(
  'outbox_marks_delete',
  'DELETE FROM outbox_waiting WHERE waiting_id = ANY (:waitingIds::bigint[])',
);

interface ReadersOf {
  waitingId: number;
  subjectKey: number;
  owner: string;
  at: string;
}

/**
 * Selects the tenants that may read the snapshots now, by a grant that had started when they were written, and that had subscribed
 * by then. `grants` has the paths of the one or two grants of each.
 */
const READERS = statement<{ inputs: readonly ReadersOf[]; most: number | null }, Reader>(
  'outbox_readers',
  `SELECT i.waiting_id::float8 AS "waitingId", g.grantee_tenant_id AS "tenantId", json_agg(g.paths) AS grants
  FROM unnest(:inputs.waitingId::bigint[], :inputs.subjectKey::bigint[], :inputs.owner::text[], :inputs.at::text[])
         AS i(waiting_id, subject_key, owner, at)
 CROSS JOIN LATERAL (${LIVE_GRANTS_ON('i.subject_key', 'i.owner')}) g
 WHERE g.scopes && '{${RULES.followShared.subject.join()}}'
   AND date_trunc('milliseconds', g.began_at) <= i.at::timestamptz
   AND ${fragmentText('wanted_at', 'g.grantee_tenant_id', `'shared.snapshot.created'`, 'i.at::timestamptz')}
 GROUP BY 1, 2 ORDER BY 1, 2 LIMIT :most`,
);

/** Records the facts about grants and shared subjects that triggers have marked. */
export class OutboxProjectionStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Records up to `limit` marked facts, and deletes their marks, in one transaction. So each fact is recorded once. Any number of
   * processes may call it.
   */
  project(limit: number, maxReaders = MAX_READERS): Promise<FactStep> {
    return this.sql.transaction(async (sql) => {
      const waiting = await sql.run(WAITING, { limit });
      const some = await readersOf(sql, waiting, maxReaders);
      const isWhole = some.length < maxReaders;
      const marked = isWhole ? waiting : waiting.slice(0, 1);
      const readers = isWhole ? some : await readersOf(sql, marked, null);
      if (marked.some((row) => factOf(row) === null)) await requireNothingHidden(sql);
      const eventIds = await record(
        sql,
        marked.flatMap((row) => recordedFacts(row, readers)),
      );
      if (marked.length > 0) await sql.run(DELETE, { waitingIds: marked.map(({ waitingId }) => waitingId) });
      return { eventIds, isMore: !isWhole || waiting.length === limit };
    });
  }
}

interface Reader {
  waitingId: number;
  tenantId: string;
  grants: readonly Visible[];
}

function readersOf(sql: TransactionSql, marked: readonly MarkedFact[], most: number | null): Promise<Reader[]> {
  const inputs = marked.flatMap(({ waitingId, subjectKey, snapshot }) =>
    snapshot === null || subjectKey === null
      ? []
      : [{ waitingId, subjectKey, owner: snapshot.tenantId, at: snapshot.createdAt.toISOString() }],
  );
  return inputs.length === 0 ? Promise.resolve([]) : sql.run(READERS, { inputs, most });
}

function recordedFacts(row: MarkedFact, readers: readonly Reader[]): readonly Fact[] {
  const fact: LogFact | null = factOf(row);
  switch (fact?.type) {
    case 'snapshot.created': {
      const { snapshotId, createdAt: at, tenantId: ownerTenantId } = fact;
      const { changeKind = 'change', changedPaths = null } = row.content ?? {};
      return readers
        .filter(({ waitingId }) => waitingId === row.waitingId)
        .map(({ tenantId, grants }) => {
          const shown = shownChanges(changedPaths, unionOf(grants));
          const data = sharedSnapshotCreatedData({ ...fact, ownerTenantId, changeKind, changedPaths: shown });
          return { type: 'shared.snapshot.created', at, data, tenantIds: [tenantId], snapshotId };
        });
    }
    case 'grant.created':
    case 'grant.changed':
    case 'grant.revoked': {
      // The terms come from the fact if it has them, because the grant may have changed since.
      const { granted } = row;
      return granted ? [grantFact(fact.type, { ...granted, ...valuesOf(fact) }, momentOfFact(fact))] : [];
    }
    default:
      return [];
  }
}

function valuesOf(fact: LogFact): Partial<GrantTerms> {
  if (!('scopes' in fact)) return {};
  const { scopes, paths, startsAt, expiresAt } = fact;
  return { scopes, paths, startsAt, expiresAt };
}
