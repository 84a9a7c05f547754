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
import { type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
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
  /** The principal type in its membership; null if it has none. */
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

const STATE = statement<Actor & SubjectRef, Eraser & { subjectKey: string | null; headVersion: number | null }>(
  'erasure_state',
);

const NAMED = statement<{ subjectKey: string; versions: readonly number[] }, VersionToErase>('erasure_named_versions');

const ALL = statement<{ subjectKey: string; limit: number }, VersionToErase>('erasure_all_versions');

const EXPIRE = statement<{ subjectKey: string }>('erasure_expire');

const INSERT = statement<ErasureToRequest & { subjectKey: string; versions: readonly number[] }>('erasure_insert');

const FIND = statement<ErasureRef, ErasureMove>('erasure_find');

const ERASED = statement<{ erasureId: string }, ErasedVersion>('erasure_versions');

const CONFIRM = statement<{ erasureId: string; principalId: string }>('erasure_confirm');

const CANCEL = statement<{ erasureId: string; principalId: string }, { erasureId: string }>('erasure_cancel');

const ERASE = statement<{ erasureId: string }, { erasedAt: Date | null }>('erasure_erase');

const RECIPIENTS = statement<{ erasureId: string }, ErasureRecipient>('erasure_recipients');

const CONCERNED = statement<{ erasureId: string }, { tenantId: string }>('erasure_concerns');

const LIST = statement<
  Actor & SubjectRef & { before: string | number; rows: number },
  ListRow<AccessFacts, ErasureRecord>
>('erasures_of_subject');

const LIST_OF_TENANT = statement<
  Actor & { status: ErasureStatus | undefined; before: string | number; rows: number },
  ListRow<AccessFacts, ErasureRecord>
>('erasures_of_tenant');

/** A number that is larger than any id of an erasure. */
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
