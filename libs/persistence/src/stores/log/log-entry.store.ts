import {
  type AccessFacts,
  type Actor,
  type GrantFact,
  type LogFact,
  type LogRecordsFact,
  type Reader,
  type SubjectRef,
  type ViewCommittedFact,
} from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type SubjectDisclosure } from '../facts/access-facts';
import { type SnapshotRecord } from '../snapshots/snapshot-record';
import { factOf, type FactRow, type RecordsRow, recordsOf } from './log-facts';

/** An entry of the log: its place in the tree, and the fact and salt of its text. */
export interface LogEntry {
  logIndex: number;
  /** 16 bytes; null for an erased version, whose entry can no longer be reconstructed. */
  salt: Buffer | null;
  fact: LogFact | LogRecordsFact | ViewCommittedFact;
}

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
  view: { logIndex: number; salt: Buffer; viewHash: string; committedAt: Date } | null;
  isViewWaiting: boolean;
  facts: AccessFacts;
  disclosure: SubjectDisclosure | null;
  version: number | null;
  isKnown: boolean;
  erasure: SnapshotRecord['erasure'];
}

const ofSnapshot = (form: 'tenant' | 'global') =>
  statement<{ inputs: readonly SnapshotInput[] }, SnapshotRow>(`log_entry_of_snapshot_${form}`);
const OF_SNAPSHOT_TENANT = ofSnapshot('tenant');
const OF_SNAPSHOT_GLOBAL = ofSnapshot('global');

/** The entry of a snapshot, and the facts that decide whether the caller may see it. */
export interface SnapshotEntryRead {
  facts: AccessFacts;
  /** Null for the owner, and if the snapshot does not exist. */
  disclosure: SubjectDisclosure | null;
  /** The version of the snapshot; null if it does not exist. */
  version: number | null;
  /** True if the caller knows the salts of the entry and of the view's own entry. */
  isKnown: boolean;
  /** The entry of the view, if `entry` does not name it. */
  view: LogEntry | null;
  /** True if the view will have an entry of its own. */
  isViewWaiting: boolean;
  /** Null if there is none yet, or the caller knows it. */
  entry: LogEntry | null;
  /** The erasure of the snapshot, if any. Its entry then has no salt. */
  erasure: SnapshotRecord['erasure'];
}
const MAX_ROWS = 64;
const MAX_RUNNING = 3;

const OF_VERSIONS = statement<SubjectRef & { from: number; to: number }, EntryRow>('log_entries_of_versions');

const OF_VIEWS = statement<
  SubjectRef & { from: number; to: number },
  Omit<LogEntry, 'fact'> & { view: ViewCommittedFact | null }
>('log_entries_of_views');

const ofGrant = (fact: GrantFact) =>
  statement<Actor & { grantId: string }, EntryRow & { facts: AccessFacts; exists: boolean; isSo: boolean }>(
    `log_entry_of_grant_${fact}`,
  );
const OF_GRANT = { created: ofGrant('created'), changed: ofGrant('changed'), revoked: ofGrant('revoked') };

const OF_OWNER_CHANGE = statement<Actor & { logIndex: number }, EntryRow & { facts: AccessFacts }>(
  'log_entry_of_owner_change',
);

const OF_RECORDS = statement<{ tenantId: string; logIndex: number }, RecordsRow & Place>('log_entry_of_records');

const OF_ERASURE = statement<{ erasureId: string }, EntryRow>('log_entry_of_erasure');

const OF_NEWEST_ERASURE = statement<SubjectRef, EntryRow & { isErased: boolean }>('log_entry_of_newest_erasure');

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

  /** Returns the entries that views of these versions have of their own, by version. */
  async ofViews(subject: SubjectRef, from: number, to: number): Promise<Map<number, LogEntry>> {
    const entries = new Map<number, LogEntry>();
    for (const { view: fact, ...place } of await this.sql.run(OF_VIEWS, { ...subject, from, to })) {
      if (fact !== null) entries.set(fact.snapshotVersion, { ...place, fact });
    }
    return entries;
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

  /** Returns the entry at this place if it has records of the tenant. Does not check access. */
  async ofRecords(tenantId: string, logIndex: number): Promise<LogEntry | null> {
    const [row] = await this.sql.run(OF_RECORDS, { tenantId, logIndex });
    if (row === undefined || row.entry === null) return null;
    const fact = recordsOf(row);
    return fact && { ...row.entry, fact };
  }

  private reader(read: typeof OF_SNAPSHOT_TENANT): Coalescer<SnapshotInput, SnapshotEntryRead> {
    const { sql: shared, lone } = this.sql.sharing;
    return new Coalescer<SnapshotInput, SnapshotEntryRead>({
      run: async (inputs, isAlone) => {
        const rows = await (isAlone ? this.sql : shared).run(read, { inputs });
        return rows.map(({ entry, snapshot, view, ...read }) => ({
          value: {
            ...read,
            entry: entry && snapshot && { ...entry, fact: snapshot },
            view: view && snapshot && viewEntryOf(view, snapshot),
          },
        }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ tenantId, principalId }) => tenantId ?? principalId,
    });
  }
}

function viewEntryOf(
  { logIndex, salt, viewHash, committedAt }: NonNullable<SnapshotRow['view']>,
  { tenantId, subjectType, subjectId, snapshotId, snapshotVersion }: NonNullable<FactRow['snapshot']>,
): LogEntry {
  const version = { tenantId, subjectType, subjectId, snapshotId, snapshotVersion };
  return { logIndex, salt, fact: { type: 'view.committed', ...version, viewHash, committedAt } };
}

function entryOf(row: EntryRow): LogEntry | null {
  const fact = factOf(row);
  return row.entry === null || fact === null ? null : { ...row.entry, fact };
}
