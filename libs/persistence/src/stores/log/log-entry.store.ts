import {
  type AccessFacts,
  type Actor,
  type GrantFact,
  type LogFact,
  type Reader,
  RULES,
  type SubjectRef,
} from '@iss/domain';
import { columns } from '../../sql/columns';
import { Coalescer } from '../../sql/coalescer';
import { ACTOR, inputRow, inputRows } from '../../sql/input';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { DISCLOSURE, FACTS, MEMBER_ACCESS, readAccess, type SubjectDisclosure } from '../facts/access-facts';
import { ERASURE_OF_SNAPSHOT, type SnapshotRecord } from '../snapshots/snapshot-record';
import { FACT_OF_ENTRY, FACT_OF_KEYS, factOf, type FactRow, LOG_ENTRY_NUMBERS, SNAPSHOT_FACT } from './log-facts';

/** An entry of the log: where it stands in the tree, and what it is the salted text of. */
export interface LogEntry {
  logIndex: number;
  /** 16 bytes; null of a version that was erased, whose entry nobody can write any more. */
  salt: Buffer | null;
  fact: LogFact;
}

/** Of the entry `k`; null where there is none. */
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

/** An entry whose salt is known already comes without its content: a salt stands for one entry. */
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
  ${readAccess(form, RULES.readById)}
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

/** The entry of a snapshot, and the facts by which it is decided whether the caller may see it. */
export interface SnapshotEntryRead {
  facts: AccessFacts;
  /** Null for the owner, and where there is no such snapshot. */
  disclosure: SubjectDisclosure | null;
  /** Of the snapshot; null where there is none. */
  version: number | null;
  /** Its entry is the one with the salt that is known. */
  isKnown: boolean;
  /** Null where it has none yet, and where it is known. */
  entry: LogEntry | null;
  /** By what it was erased: its entry has no salt then. */
  erasure: SnapshotRecord['erasure'];
}
const MAX_ROWS = 64;
const MAX_RUNNING = 3;

/** The entries of these versions of a subject, for a reader who may see them. */
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

/** How the entry of each of the facts of `granted` is found, as `e`. */
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

/** Whether there is such a fact. */
const IS_SO: Record<GrantFact, string> = {
  created: 'true',
  changed: '(SELECT true FROM grant_changes h WHERE h.grant_id = granted.grant_id LIMIT 1) IS TRUE',
  revoked: 'granted.revoked_at IS NOT NULL',
};

/** Grantor and grantee alike may see what they agreed on. */
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

/** A tenant's own changes alone, by their place. */
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

/** Of an erasure that was done, for whoever may see an erased version. */
const OF_ERASURE = statement<{ erasureId: string }, EntryRow>(
  'log_entry_of_erasure',
  `SELECT ${ENTRY}
  FROM (SELECT erasure_id FROM erasures WHERE public_id = :erasureId::uuid) found
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.erasure_id = found.erasure_id LIMIT 1) k ON true
  ${FACT_OF_KEYS}`,
);

/** A subject has one pending erasure at a time, so that the last one asked for is the last one done. */
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

/** Entries by the facts that they are of. */
export class LogEntryStore {
  private readonly inTenant: Coalescer<SnapshotInput, SnapshotEntryRead>;
  private readonly inAnyTenant: Coalescer<SnapshotInput, SnapshotEntryRead>;

  constructor(private readonly sql: Sql) {
    this.inTenant = this.reader(OF_SNAPSHOT_TENANT);
    this.inAnyTenant = this.reader(OF_SNAPSHOT_GLOBAL);
  }

  /** The entry of a snapshot, and whether the reader may see it. Concurrent calls share a statement. */
  ofSnapshot(
    { tenantId, principalId }: Reader,
    snapshotId: string,
    knownSalt: Buffer | undefined,
  ): Promise<SnapshotEntryRead> {
    const reader = tenantId === null ? this.inAnyTenant : this.inTenant;
    return reader.submit({ tenantId, principalId, snapshotId, knownSalt });
  }

  /** The entries of the versions `from` to `to` of a subject, ascending; those that have none yet are left out. */
  async ofVersions(subject: SubjectRef, from: number, to: number): Promise<LogEntry[]> {
    const rows = await this.sql.run(OF_VERSIONS, { ...subject, from, to });
    return rows.map(entryOf).filter((entry) => entry !== null);
  }

  /** The entry of a fact of a grant that the tenant made or was given, whether it is so, and what the caller may do in that tenant. */
  async ofGrant(
    actor: Actor,
    grantId: string,
    fact: GrantFact,
  ): Promise<{ facts: AccessFacts; exists: boolean; isSo: boolean; entry: LogEntry | null }> {
    const row = await this.sql.one(OF_GRANT[fact], { ...actor, grantId });
    const { facts, exists, isSo } = row;
    return { facts, exists, isSo, entry: entryOf(row) };
  }

  /** The entry of an erasure; null where it has none yet. Whether the caller may see it is asked elsewhere. */
  async ofErasure(erasureId: string): Promise<LogEntry | null> {
    const [row] = await this.sql.run(OF_ERASURE, { erasureId });
    return row === undefined ? null : entryOf(row);
  }

  /** The entry of the last erasure of a subject: null where it has none yet, undefined where nothing was erased. */
  async ofNewestErasure(subject: SubjectRef): Promise<LogEntry | null | undefined> {
    const [row] = await this.sql.run(OF_NEWEST_ERASURE, subject);
    return row?.isErased === true ? entryOf(row) : undefined;
  }

  /** The entry at this place, if it is a change of the tenant's owner, and what the caller may do in the tenant. */
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
