import {
  type AccessFacts,
  type Acting,
  type Actor,
  DomainError,
  type Confirmation,
  type ErasureStatus,
  erasureRequestedData,
  type PrincipalType,
  subjectErasedData,
  type SubjectRef,
} from '@iss/domain';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import { fitting, type ListRow, type Page, type PageRequest, rowBytes, toList } from '../../sql/page';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS, TENANT_ACCESS } from '../facts/access-facts';
import { LIVE_GRANTS_ON } from '../feed/shared-with';
import { headVersion, NAMED_SUBJECT } from '../facts/joins';
import { lockTenant } from '../tenancy/tenant-lock';
import { type EventTrace, type Fact, record } from '../webhooks/record';

/** An erasure of versions of a subject. Its status is that of the moment it was read. */
export interface ErasureRecord extends SubjectRef {
  erasureId: string;
  tenantId: string;
  versions: number[];
  status: ErasureStatus;
  /** The tenant's setting at the time of the request. */
  confirmation: Confirmation;
  /** Null once the erasure is no longer pending, because it may contain personal data. */
  reason: string | null;
  reference: string | null;
  requestedBy: string;
  requestedAt: Date;
  confirmBy: Date;
  confirmedBy: string | null;
  confirmedAt: Date | null;
  cancelledBy: string | null;
  cancelledAt: Date | null;
  erasedAt: Date | null;
  /** The place of its entry in the log; null until there is one. */
  logIndex: number | null;
}

/** The remaining data of an erased version, without its content. */
export interface ErasedVersion {
  snapshotVersion: number;
  snapshotId: string;
  envelopeHash: string | null;
  prevHash: string | null;
  /** The place of its entry in the log. */
  logIndex: number;
}

/** A tenant that was shown one of the erased versions. */
export interface ErasureRecipient {
  tenantId: string;
  /** The first read on the first day of disclosure, and the first read on the last day. */
  firstAt: Date;
  lastAt: Date;
}

/** An erasure with the versions that it erased and their recipients. Both lists are empty until it is done. */
export interface ErasureReceipt extends ErasureRecord {
  erasedVersions: ErasedVersion[];
  recipients: ErasureRecipient[];
}

export interface ErasureToRequest extends SubjectRef {
  erasureId: string;
  tenantId: string;
  requestedBy: string;
  reason: string;
  reference: string | null;
}

/** An erasure and the principal that acts on it. */
export interface ErasureRef extends Actor, SubjectRef {
  erasureId: string;
}

/** The principal that acts, with the facts that decide its rights. */
export interface Eraser {
  facts: AccessFacts;
  /** From its membership; null if it has none. */
  principalType: PrincipalType | null;
}

/** One of the versions to erase. */
export interface VersionToErase {
  version: number;
  exists: boolean;
  isErased: boolean;
  isLogged: boolean;
}

/** The facts that decide a request. They cannot change until the request is stored. */
export interface ErasureRequestMove extends Eraser {
  /** Null if the subject does not exist. */
  headVersion: number | null;
  /** The named versions. For `all`, those that are not erased, at most `limit + 1`. */
  versions: readonly VersionToErase[];
}

/** The facts that decide a confirmation or cancellation. `erasure` is null if the subject has none with this id. */
export interface ErasureMove extends Eraser {
  erasure: ErasureRecord | null;
}

/** A stored change, with the ids of the events to announce. */
export interface ErasureWritten {
  erasure: ErasureReceipt;
  eventIds: readonly string[];
}

const IS_OVERDUE = `er.status = 'pending' AND er.confirm_by <= statement_timestamp()`;

/** The columns of the erasure `er` of subject `s`. */
const ERASURE: Columns<ErasureRecord> = {
  erasureId: 'er.public_id',
  tenantId: 'er.tenant_id',
  subjectType: 's.subject_type',
  subjectId: 's.subject_id',
  versions: 'er.versions',
  status: `CASE WHEN ${IS_OVERDUE} THEN 'expired' ELSE er.status END`,
  confirmation: 'er.confirmation',
  reason: `CASE WHEN NOT (${IS_OVERDUE}) THEN er.reason END`,
  reference: 'er.reference',
  requestedBy: 'er.requested_by',
  requestedAt: 'er.requested_at',
  confirmBy: 'er.confirm_by',
  confirmedBy: 'er.confirmed_by',
  confirmedAt: 'er.confirmed_at',
  cancelledBy: 'er.cancelled_by',
  cancelledAt: 'er.cancelled_at',
  erasedAt: 'er.erased_at',
  logIndex: `CASE WHEN er.erased_at IS NOT NULL THEN
         (SELECT e.log_index::float8 FROM log_entries e WHERE e.erasure_id = er.erasure_id LIMIT 1) END`,
};

const ERASER = `${FACTS},
  (SELECT m.principal_type FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS "principalType"`;

const STATE = statement<Actor & SubjectRef, Eraser & { subjectKey: string | null; headVersion: number | null }>(
  'erasure_state',
  `SELECT ${ERASER},
  s.subject_key AS "subjectKey", ${headVersion('s.subject_key')} AS "headVersion"
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}`,
);

const IS_LOGGED = `(SELECT true FROM log_entries e
    WHERE e.subject_key = n.subject_key AND e.snapshot_version = n.snapshot_version AND e.entry_type = 1 LIMIT 1) IS TRUE`;

const NAMED = statement<{ subjectKey: string; versions: readonly number[] }, VersionToErase>(
  'erasure_named_versions',
  `SELECT v.version, n.snapshot_version IS NOT NULL AS "exists", n.erasure_id IS NOT NULL AS "isErased",
  ${IS_LOGGED} AS "isLogged"
  FROM unnest(:versions::int[]) AS v(version)
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = :subjectKey::bigint AND n.snapshot_version = v.version LIMIT 1) n ON true
 ORDER BY v.version`,
);

const ALL = statement<{ subjectKey: string; limit: number }, VersionToErase>(
  'erasure_all_versions',
  `SELECT n.snapshot_version AS version, true AS "exists", false AS "isErased", ${IS_LOGGED} AS "isLogged"
  FROM (SELECT * FROM snapshots n WHERE n.subject_key = :subjectKey::bigint AND (n.erasure_id IS NULL) IS TRUE
         ORDER BY n.snapshot_version LIMIT :limit) n
 ORDER BY n.snapshot_version`,
);

const EXPIRE = statement<{ subjectKey: string }>(
  'erasure_expire',
  `UPDATE erasures er SET status = 'expired', reason = NULL
  WHERE er.subject_key = :subjectKey::bigint AND (${IS_OVERDUE}) IS TRUE`,
);

const INSERT = statement<ErasureToRequest & { subjectKey: string; versions: readonly number[] }>(
  'erasure_insert',
  `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, reason, reference, requested_by)
  VALUES (:erasureId::uuid, :tenantId::text, :subjectKey::bigint, :versions::int[], :reason::text, :reference::text,
          :requestedBy::text)`,
);

const FIND = statement<ErasureRef, ErasureMove>(
  'erasure_find',
  `SELECT ${ERASER},
  ${columns(ERASURE, 'erasure?')}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT, erasure_id: 'uuid' })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.public_id = i.erasure_id LIMIT 1) er
    ON er.subject_key = s.subject_key AND f.owns_subject`,
);

const ERASED = statement<{ erasureId: string }, ErasedVersion>(
  'erasure_versions',
  `SELECT n.snapshot_version AS "snapshotVersion", n.snapshot_id AS "snapshotId",
  encode(n.envelope_hash, 'hex') AS "envelopeHash", encode(n.prev_hash, 'hex') AS "prevHash", e.log_index::float8 AS "logIndex"
  FROM (SELECT er.subject_key, unnest(er.versions) AS version FROM erasures er
         WHERE er.public_id = :erasureId::uuid AND er.status = 'erased') er
 CROSS JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = er.subject_key AND n.snapshot_version = er.version LIMIT 1) n
 CROSS JOIN LATERAL (SELECT * FROM log_entries e
                      WHERE e.subject_key = er.subject_key AND e.snapshot_version = er.version AND e.entry_type = 1 LIMIT 1) e
 ORDER BY n.snapshot_version`,
);

const CONFIRM = statement<{ erasureId: string; principalId: string }>(
  'erasure_confirm',
  `UPDATE erasures er SET confirmed_by = :principalId, confirmed_at = statement_timestamp()
  WHERE er.public_id = :erasureId::uuid AND (er.status = 'pending') IS TRUE`,
);

const CANCEL = statement<{ erasureId: string; principalId: string }, { erasureId: string }>(
  'erasure_cancel',
  `UPDATE erasures er SET status = 'cancelled', reason = NULL, cancelled_by = :principalId, cancelled_at = statement_timestamp()
  WHERE er.public_id = :erasureId::uuid AND (er.status = 'pending') IS TRUE
  RETURNING er.public_id AS "erasureId"`,
);

/** Calls the database function that erases. The applications' role has no other way, and the function demands a confirmed row. */
const ERASE = statement<{ erasureId: string }, { erasedAt: Date | null }>(
  'erasure_erase',
  `SELECT erase_versions(er.erasure_id) AS "erasedAt" FROM erasures er WHERE er.public_id = :erasureId::uuid`,
);

/**
 * Selects the tenants that were shown a version of the erasure `er` before it was done. The expression `|| ''` and the order
 * exclude indexes that begin with the tenant and cover all subjects.
 */
const SHOWN_TO = `SELECT d.grantee_tenant_id || '' AS tenant_id, min(d.first_at) AS first_at, max(d.first_at) AS last_at
          FROM (SELECT * FROM disclosures d
                 WHERE d.subject_key = er.subject_key AND d.first_at <= er.erased_at
                 ORDER BY d.first_at DESC, d.disclosure_id DESC) d
         WHERE (SELECT true FROM unnest(er.versions) AS v(version)
                 WHERE v.version BETWEEN d.from_version AND d.to_version LIMIT 1)
         GROUP BY d.grantee_tenant_id || ''`;

const RECIPIENTS = statement<{ erasureId: string }, ErasureRecipient>(
  'erasure_recipients',
  `SELECT t.tenant_id AS "tenantId", t.first_at AS "firstAt", t.last_at AS "lastAt"
  FROM (SELECT * FROM erasures er WHERE er.public_id = :erasureId::uuid AND (er.status = 'erased') IS TRUE) er
 CROSS JOIN LATERAL (${SHOWN_TO}) t
 ORDER BY t.tenant_id`,
);

/** Selects the owner of an erased subject, each tenant with a live grant on it, and each recipient. */
const CONCERNED = statement<{ erasureId: string }, { tenantId: string }>(
  'erasure_concerns',
  `SELECT DISTINCT t.tenant_id AS "tenantId"
  FROM (SELECT * FROM erasures er WHERE er.public_id = :erasureId::uuid) er
 CROSS JOIN LATERAL (
   SELECT er.tenant_id
    UNION ALL
   SELECT g.grantee_tenant_id FROM (${LIVE_GRANTS_ON('er.subject_key', 'er.tenant_id')}) g
    UNION ALL
   SELECT d.tenant_id FROM (${SHOWN_TO}) d) t`,
);

const ORDER = 'ORDER BY (-er.erasure_id)';
const POSITION = 'ARRAY[er.erasure_id::text] AS position, er.found';

const LIST = statement<
  Actor & SubjectRef & { before: string | number; rows: number },
  ListRow<AccessFacts, ErasureRecord>
>(
  'erasures_of_subject',
  `SELECT ${FACTS},
  ${columns(ERASURE, 'item?')},
  ${POSITION}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  LEFT JOIN LATERAL ${fitting(
    'er',
    `SELECT * FROM erasures er
      WHERE er.subject_key = s.subject_key AND f.owns_subject AND (-er.erasure_id) > -(:before::bigint)
      ${ORDER} LIMIT :rows`,
    rowBytes('er'),
    ORDER,
  )} er ON true
 ${ORDER}`,
);

const LIST_OF_TENANT = statement<
  Actor & { status: ErasureStatus | undefined; before: string | number; rows: number },
  ListRow<AccessFacts, ErasureRecord>
>(
  'erasures_of_tenant',
  `SELECT ${FACTS},
  ${columns(ERASURE, 'item?')},
  ${POSITION}
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL ${fitting(
    'er',
    `SELECT * FROM erasures er
      WHERE (er.tenant_id || '/') = i.tenant_id || '/' AND f.member_status = 'active' AND (-er.erasure_id) > -(:before::bigint)
        AND (:status::text IS NULL OR ${ERASURE.status} = :status::text)
      ORDER BY (er.tenant_id || '/'), (-er.erasure_id) LIMIT :rows`,
    rowBytes('er'),
    ORDER,
  )} er ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = er.subject_key LIMIT 1) s ON true
 ${ORDER}`,
);

/** Larger than any id of an erasure. */
const NEWEST = String(2n ** 62n);

/** Erasures of versions. One person requests an erasure, another confirms it, and a database function executes it. */
export class ErasureStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Stores a request for the versions that `decide` returns. `decide` may run more than once, and if it throws, nothing changes.
   * Erases at once if the tenant needs no confirmation. Throws `conflict` while another erasure of the subject is pending; an
   * overdue one does not count.
   */
  async request(
    asked: ErasureToRequest,
    trace: EventTrace,
    wanted: { versions: readonly number[] | 'all'; limit: number },
    decide: (move: ErasureRequestMove) => readonly number[],
  ): Promise<ErasureWritten> {
    const { tenantId, requestedBy: principalId } = asked;
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, { tenantId, principalId, requestId: trace.requestId });
      const { subjectKey, ...state } = await sql.one(STATE, { ...asked, principalId });
      const versions = subjectKey === null ? [] : await findVersions(sql, subjectKey, wanted);
      const decided = decide({ ...state, versions });
      if (subjectKey === null) throw new Error('an erasure without a subject was accepted');
      await sql.run(EXPIRE, { subjectKey });
      await sql.run(INSERT, { ...asked, subjectKey, versions: decided });
      const ref = { ...asked, principalId };
      const erasure = await read(sql, ref);
      const eventIds =
        erasure.confirmation === 'off'
          ? await erase(sql, ref, trace)
          : await record(sql, [requestedFact(erasure, trace)]);
      return { erasure: await receipt(sql, await read(sql, ref)), eventIds };
    });
  }

  /**
   * Confirms and executes a pending erasure, unless `decide` throws. Throws `not_logged_yet` if a version has no log entry yet.
   */
  async confirm(ref: ErasureRef, trace: EventTrace, decide: (move: ErasureMove) => void): Promise<ErasureWritten> {
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, { ...ref, requestId: trace.requestId });
      decide(await sql.one(FIND, ref));
      await sql.run(CONFIRM, ref);
      const eventIds = await erase(sql, ref, trace);
      return { erasure: await receipt(sql, await read(sql, ref)), eventIds };
    });
  }

  /**
   * Cancels an erasure that was not executed, even if it is overdue, unless `decide` throws. Throws `conflict` if it has ended.
   */
  async cancel(ref: ErasureRef & Acting, decide: (move: ErasureMove) => void): Promise<ErasureReceipt> {
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, ref);
      decide(await sql.one(FIND, ref));
      const [cancelled] = await sql.run(CANCEL, ref);
      if (cancelled === undefined) throw new DomainError('conflict', 'The erasure has ended already.');
      return receipt(sql, await read(sql, ref));
    });
  }

  /** Returns the subject's erasure with this id, or null, and the caller's access facts. Only the owner gets any. */
  async find(ref: ErasureRef): Promise<{ facts: AccessFacts; erasure: ErasureReceipt | null }> {
    const { facts, erasure } = await this.sql.one(FIND, ref);
    return { facts, erasure: erasure && (await receipt(this.sql, erasure)) };
  }

  /** Returns the subject's erasures, newest first, and the caller's access facts. Only the owner gets any. */
  async list(
    actor: Actor,
    subject: SubjectRef,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ErasureRecord> }> {
    const [position = NEWEST] = after ?? [];
    return toList(await this.sql.run(LIST, { ...actor, ...subject, before: position, rows: limit + 1 }), limit);
  }

  /**
   * Returns the erasures of all the tenant's subjects, newest first, and the caller's access facts. `status` filters them. Only
   * an active member gets any.
   */
  async listOfTenant(
    actor: Actor,
    status: ErasureStatus | undefined,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ErasureRecord> }> {
    const [position = NEWEST] = after ?? [];
    return toList(await this.sql.run(LIST_OF_TENANT, { ...actor, status, before: position, rows: limit + 1 }), limit);
  }
}

function findVersions(
  sql: TransactionSql,
  subjectKey: string,
  { versions, limit }: { versions: readonly number[] | 'all'; limit: number },
): Promise<VersionToErase[]> {
  return versions === 'all' ? sql.run(ALL, { subjectKey, limit: limit + 1 }) : sql.run(NAMED, { subjectKey, versions });
}

async function erase(sql: TransactionSql, ref: ErasureRef, trace: EventTrace): Promise<string[]> {
  const { erasedAt } = await sql.one(ERASE, ref);
  if (erasedAt === null) {
    throw new DomainError('not_logged_yet', 'A version is not in the transparency log yet. Try again shortly.');
  }
  const data = subjectErasedData({ ...(await read(sql, ref)), erasedAt });
  const tenantIds = (await sql.run(CONCERNED, ref)).map(({ tenantId }) => tenantId);
  return record(sql, [{ type: 'subject.erased', at: erasedAt, data, tenantIds, trace }]);
}

function requestedFact(erasure: ErasureRecord, trace: EventTrace): Fact {
  const { requestedAt: at, tenantId } = erasure;
  return { type: 'erasure.requested', at, data: erasureRequestedData(erasure), tenantIds: [tenantId], trace };
}

async function read(sql: TransactionSql, ref: ErasureRef): Promise<ErasureRecord> {
  const { erasure } = await sql.one(FIND, ref);
  if (erasure === null) throw new Error('a stored erasure is missing');
  return erasure;
}

async function receipt(sql: Pick<TransactionSql, 'run'>, erasure: ErasureRecord): Promise<ErasureReceipt> {
  if (erasure.status !== 'erased') return { ...erasure, erasedVersions: [], recipients: [] };
  return { ...erasure, erasedVersions: await sql.run(ERASED, erasure), recipients: await sql.run(RECIPIENTS, erasure) };
}
