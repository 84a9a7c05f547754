import { type AccessFacts, type Actor, type GrantFact, type LogFact, type Reader, type SubjectRef } from '@iss/domain';
import { columns } from '../../sql/columns';
import { Coalescer } from '../../sql/coalescer';
import { ACTOR, inputRow, inputRows } from '../../sql/input';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { DISCLOSURE, FACTS, MEMBER_ACCESS, readAccess, type SubjectDisclosure } from '../facts/access-facts';
import { ERASURE_OF_SNAPSHOT, type SnapshotRecord } from '../snapshots/snapshot-record';
import { FACT_OF_ENTRY, FACT_OF_KEYS, factOf, type FactRow, LOG_ENTRY_NUMBERS, SNAPSHOT_FACT } from './log-facts';

/** An entry of the log: its place in the tree, and the fact and salt of its text. */
export interface LogEntry {
  logIndex: number;
  /** 16 bytes; null for an erased version, whose entry can no longer be reconstructed. */
  salt: Buffer | null;
  fact: LogFact;
}

/** Selects the place of the entry `k`, or null. */
const PLACE = `k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt"`;
const ENTRY = `${PLACE},
  ${FACT_OF_ENTRY}`;

interface Place {
  entry: { logIndex: number; salt: Buffer | null } | null;
}
type EntryRow = FactRow & Place;

/** A request for the entry of a snapshot. */
interface SnapshotInput extends Reader {
  snapshotId: string;
  knownSalt: Buffer | undefined;
}

interface SnapshotRow extends Pick<FactRow, 'snapshot'>, Place {
  facts: AccessFacts;
  disclosure: SubjectDisclosure | null;
  version: number | null;
  isKnown: boolean;
  erasure: SnapshotRecord['erasure'];
}

/**
 * Reads the entry of a snapshot. If the caller already knows its salt, it returns no content, because a salt identifies one
 * entry.
 */
const ofSnapshot = (form: 'tenant' | 'global') =>
  statement<{ inputs: readonly SnapshotInput[] }, SnapshotRow>(
    `log_entry_of_snapshot_${form}`,
    `SELECT ${FACTS},
  ${DISCLOSURE[form]}, found.snapshot_version AS version, (placed.salt = i.known_salt) IS TRUE AS "isKnown",
  ${columns(ERASURE_OF_SNAPSHOT)},
  ${PLACE},
  ${SNAPSHOT_FACT}
  FROM ${inputRows({ ...ACTOR, snapshot_id: 'uuid', known_salt: 'bytea' })}
  LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
  LEFT JOIN subjects s ON s.subject_key = found.subject_key
  ${readAccess(form, 'readById')}
  LEFT JOIN LATERAL (SELECT * FROM log_entries e
                      WHERE e.subject_key = r.subject_key AND e.snapshot_version = found.snapshot_version
                        AND e.entry_type = 1 LIMIT 1) placed ON true
  LEFT JOIN LATERAL (SELECT placed.* WHERE (placed.salt = i.known_salt) IS NOT TRUE) k ON true
  LEFT JOIN LATERAL (SELECT found.*
                      WHERE r.subject_key IS NOT NULL AND (placed.salt = i.known_salt) IS NOT TRUE) n ON true
 ORDER BY i.ord`,
  );
const OF_SNAPSHOT_TENANT = ofSnapshot('tenant');
const OF_SNAPSHOT_GLOBAL = ofSnapshot('global');

/** The entry of a snapshot, and the facts that decide whether the caller may see it. */
export interface SnapshotEntryRead {
  facts: AccessFacts;
  /** Null for the owner, and if the snapshot does not exist. */
  disclosure: SubjectDisclosure | null;
  /** The version of the snapshot; null if it does not exist. */
  version: number | null;
  /** True if the caller knows the entry's salt. */
  isKnown: boolean;
  /** Null if there is none yet, or the caller knows it. */
  entry: LogEntry | null;
  /** The erasure of the snapshot, if any. Its entry then has no salt. */
  erasure: SnapshotRecord['erasure'];
}
const MAX_ROWS = 64;
const MAX_RUNNING = 3;

/** Reads the entries of these versions of a subject. The caller must have checked the right. */
const OF_VERSIONS = statement<SubjectRef & { from: number; to: number }, EntryRow>(
  'log_entries_of_versions',
  `SELECT ${ENTRY}
  FROM (SELECT subject_key FROM subjects WHERE subject_type = :subjectType AND subject_id = :subjectId) found
 CROSS JOIN LATERAL (SELECT * FROM log_entries e
                      WHERE e.subject_key = found.subject_key AND e.snapshot_version BETWEEN :from::int AND :to::int
                        AND e.entry_type = 1 ORDER BY e.snapshot_version) k
  ${FACT_OF_KEYS}
 ORDER BY k.snapshot_version`,
);

/** Finds the entry of each kind of fact about the grant `granted`, as `e`. */
const ENTRY_OF: Record<GrantFact, string> = {
  created: ofGrantItself('grant.created'),
  changed: `SELECT e.* FROM (SELECT h.grant_change_id FROM grant_changes h WHERE h.grant_id = granted.grant_id
                             ORDER BY (-h.grant_change_id) LIMIT 1) h
                      CROSS JOIN LATERAL (SELECT * FROM log_entries e
                                           WHERE e.grant_change_id = h.grant_change_id LIMIT 1) e`,
  revoked: ofGrantItself('grant.revoked'),
};

function ofGrantItself(type: 'grant.created' | 'grant.revoked'): string {
  return `SELECT * FROM log_entries e
                      WHERE e.grant_id = granted.grant_id AND e.entry_type = ${LOG_ENTRY_NUMBERS[type]} LIMIT 1`;
}

/** True if the fact exists. */
const IS_SO: Record<GrantFact, string> = {
  created: 'true',
  changed: '(SELECT true FROM grant_changes h WHERE h.grant_id = granted.grant_id LIMIT 1) IS TRUE',
  revoked: 'granted.revoked_at IS NOT NULL',
};

/** Reads the entry of a fact about a grant. Grantor and grantee may see it. */
const ofGrant = (fact: GrantFact) =>
  statement<Actor & { grantId: string }, EntryRow & { facts: AccessFacts; exists: boolean; isSo: boolean }>(
    `log_entry_of_grant_${fact}`,
    `SELECT ${FACTS},
  granted.grant_id IS NOT NULL AS exists, ${IS_SO[fact]} AS "isSo",
  ${ENTRY}
  FROM ${inputRow({ ...ACTOR, grant_id: 'uuid' })}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (SELECT * FROM grants WHERE grant_id = i.grant_id LIMIT 1) granted
    ON i.tenant_id IN (granted.grantor_tenant_id, granted.grantee_tenant_id)
  LEFT JOIN LATERAL (${ENTRY_OF[fact]}) k ON true
  ${FACT_OF_KEYS}`,
  );
const OF_GRANT = { created: ofGrant('created'), changed: ofGrant('changed'), revoked: ofGrant('revoked') };

/** Reads the entry of an owner change of the caller's tenant, by its place. */
const OF_OWNER_CHANGE = statement<Actor & { logIndex: number }, EntryRow & { facts: AccessFacts }>(
  'log_entry_of_owner_change',
  `SELECT ${FACTS},
  ${ENTRY}
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (SELECT e.* FROM log_entries e
                      CROSS JOIN LATERAL (SELECT tenant_id FROM owner_changes own
                                           WHERE own.owner_change_id = e.owner_change_id LIMIT 1) own
                      WHERE e.log_index = :logIndex::bigint AND own.tenant_id = i.tenant_id LIMIT 1) k ON true
  ${FACT_OF_KEYS}`,
);

/** Reads the entry of an executed erasure. The caller must have checked the right to see an erased version. */
const OF_ERASURE = statement<{ erasureId: string }, EntryRow>(
  'log_entry_of_erasure',
  `SELECT ${ENTRY}
  FROM (SELECT erasure_id FROM erasures WHERE public_id = :erasureId::uuid) found
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.erasure_id = found.erasure_id LIMIT 1) k ON true
  ${FACT_OF_KEYS}`,
);

/**
 * Reads the entry of the newest erasure. A subject has one pending erasure at a time, so the last requested one is the last
 * executed one.
 */
const OF_NEWEST_ERASURE = statement<SubjectRef, EntryRow & { isErased: boolean }>(
  'log_entry_of_newest_erasure',
  `SELECT found.erasure_id IS NOT NULL AS "isErased",
  ${ENTRY}
  FROM (SELECT (SELECT er.erasure_id FROM erasures er
                 WHERE er.subject_key = s.subject_key AND (er.status = 'erased') IS TRUE
                 ORDER BY (-er.erasure_id) LIMIT 1) AS erasure_id
          FROM subjects s WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId) found
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.erasure_id = found.erasure_id LIMIT 1) k ON true
  ${FACT_OF_KEYS}`,
);

/** Finds log entries by their facts. */
export class LogEntryStore {
  private readonly inTenant: Coalescer<SnapshotInput, SnapshotEntryRead>;
  private readonly inAnyTenant: Coalescer<SnapshotInput, SnapshotEntryRead>;

  constructor(private readonly sql: Sql) {
    this.inTenant = this.reader(OF_SNAPSHOT_TENANT);
    this.inAnyTenant = this.reader(OF_SNAPSHOT_GLOBAL);
  }

  /** Returns the entry of a snapshot and the access facts of the reader. Concurrent calls share a statement. */
  ofSnapshot(
    { tenantId, principalId }: Reader,
    snapshotId: string,
    knownSalt: Buffer | undefined,
  ): Promise<SnapshotEntryRead> {
    const reader = tenantId === null ? this.inAnyTenant : this.inTenant;
    return reader.submit({ tenantId, principalId, snapshotId, knownSalt });
  }

  /** Returns the existing entries of the versions `from` to `to` of a subject, ascending. */
  async ofVersions(subject: SubjectRef, from: number, to: number): Promise<LogEntry[]> {
    const rows = await this.sql.run(OF_VERSIONS, { ...subject, from, to });
    return rows.map(entryOf).filter((entry) => entry !== null);
  }

  /**
   * Returns the entry of a fact about a grant that the tenant issued or received, and the caller's access facts. `isSo` is true
   * if the fact exists.
   */
  async ofGrant(
    actor: Actor,
    grantId: string,
    fact: GrantFact,
  ): Promise<{ facts: AccessFacts; exists: boolean; isSo: boolean; entry: LogEntry | null }> {
    const row = await this.sql.one(OF_GRANT[fact], { ...actor, grantId });
    const { facts, exists, isSo } = row;
    return { facts, exists, isSo, entry: entryOf(row) };
  }

  /** Returns the entry of an erasure; null if there is none yet. Does not check access. */
  async ofErasure(erasureId: string): Promise<LogEntry | null> {
    const [row] = await this.sql.run(OF_ERASURE, { erasureId });
    return row === undefined ? null : entryOf(row);
  }

  /** Returns the entry of a subject's last erasure: null if there is none yet, undefined if nothing was erased. */
  async ofNewestErasure(subject: SubjectRef): Promise<LogEntry | null | undefined> {
    const [row] = await this.sql.run(OF_NEWEST_ERASURE, subject);
    return row?.isErased === true ? entryOf(row) : undefined;
  }

  /** Returns the entry at this place if it is a change of the tenant's owner, and the caller's access facts. */
  async ofOwnerChange(actor: Actor, logIndex: number): Promise<{ facts: AccessFacts; entry: LogEntry | null }> {
    const row = await this.sql.one(OF_OWNER_CHANGE, { ...actor, logIndex });
    return { facts: row.facts, entry: entryOf(row) };
  }

  private reader(read: typeof OF_SNAPSHOT_TENANT): Coalescer<SnapshotInput, SnapshotEntryRead> {
    const { sql: shared, lone } = this.sql.sharing;
    return new Coalescer<SnapshotInput, SnapshotEntryRead>({
      run: async (inputs, isAlone) => {
        const rows = await (isAlone ? this.sql : shared).run(read, { inputs });
        return rows.map(({ entry, snapshot, ...read }) => ({
          value: { ...read, entry: entry && snapshot && { ...entry, fact: snapshot } },
        }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ tenantId, principalId }) => tenantId ?? principalId,
    });
  }
}

function entryOf(row: EntryRow): LogEntry | null {
  const fact = factOf(row);
  return row.entry === null || fact === null ? null : { ...row.entry, fact };
}
