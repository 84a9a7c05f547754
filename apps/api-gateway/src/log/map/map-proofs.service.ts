import {
  type AccessRule,
  type Actor,
  ALL_SUBJECTS,
  DomainError,
  GRANT_FACTS,
  type GrantFact,
  requireAccess,
  RULES,
  type SubjectRef,
} from '@iss/domain';
import {
  accessStream,
  auditStream,
  disclosureStream,
  granteeStream,
  grantorStream,
  grantStream,
  ownerStream,
  versionStream,
} from '@iss/map';
import type { AbsenceStream, TenantAbsenceStream } from '@iss/contract';
import {
  type LogCheckpoint,
  type LogEntry,
  LogEntryStore,
  type LoggedHead,
  MapProofStore,
  MapReadStore,
} from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { Disclosures } from '../../access/disclosures';
import { erasedView, ErasedError } from '../../access/erased';
import { notFound, ReadAccess } from '../../access/read-access';
import type { Asker } from '../../runtime/asker';
import { type KnownProof, type LoggedEntry, LogProofService } from '../log-proof.service';
import { LogTreeService, notLoggedYet } from '../log-tree.service';
import { LogWaiting } from '../log-waiting';
import { asOfRefused, PublishedMap, type ProvedNumber } from './published-map';
import { type ProvedRecords, RecordProofs } from './record-proofs';

type Caller = Actor & Asker;

/** The entry of the newest number of a stream, with its proof. */
export interface ProvedHead {
  readonly entry: LoggedEntry;
  readonly inclusion: readonly Uint8Array[];
  readonly proved: ProvedNumber;
}

/** The newest version among the first `asOfSize` entries. */
export interface LatestProof extends ProvedHead {
  readonly asOfSize: number;
  readonly checkpoint: string;
}

interface LatestOptions {
  readonly asOfSize: number | undefined;
  /** Seconds to wait for a version that is not in the published map yet. */
  readonly waitSeconds: number;
}

/** The newest state of a grant. */
export interface GrantStateProof extends ProvedHead {
  readonly fact: GrantFact;
}

/** Options of a proof that a stream has no further number. */
interface EndOptions {
  /** The first record to prove, of a stream of records; 0 for none. */
  readonly recordsFrom: number;
  readonly waitSeconds: number;
}

/** The end of a stream, and its records if they were asked for. */
export interface ProvedEnd {
  readonly proved: ProvedNumber;
  readonly records: ProvedRecords | null;
}

interface StreamOfSubject {
  readonly nameOf: (tenantId: string, subject: SubjectRef) => string;
  readonly rule: AccessRule;
}

const named =
  (name: (type: string, id: string) => string) =>
  (_: string, { subjectType, subjectId }: SubjectRef): string =>
    name(subjectType, subjectId);

const SUBJECT_STREAMS: Readonly<Record<AbsenceStream, StreamOfSubject>> = {
  v: { nameOf: named(versionStream), rule: RULES.submitFirstState },
  a: { nameOf: named(accessStream), rule: RULES.manageGrants },
  p: {
    nameOf: (tenantId, { subjectType, subjectId }) => granteeStream(tenantId, subjectType, subjectId),
    rule: RULES.readTenant,
  },
  r: { nameOf: named(disclosureStream), rule: RULES.readDisclosures },
};

const TENANT_STREAMS: Readonly<Record<TenantAbsenceStream, { nameOf: (id: string) => string; rule: AccessRule }>> = {
  d: { nameOf: auditStream, rule: RULES.readAudit },
  o: { nameOf: ownerStream, rule: RULES.readTenant },
  p: {
    nameOf: (tenantId) => granteeStream(tenantId, ALL_SUBJECTS.subjectType, ALL_SUBJECTS.subjectId),
    rule: RULES.readTenant,
  },
  w: { nameOf: grantorStream, rule: RULES.confirmGrants },
};

/** Characters of remembered entries. */
const CACHE_CHARACTERS = 1024 * 1024;

/** Proves by the map of the published log which fact is the newest, and that no further fact exists. */
@Injectable()
export class MapProofsService {
  private readonly hashed = new RecentMap<string, LoggedEntry>(CACHE_CHARACTERS, ({ text }) => text.length);

  constructor(
    private readonly map: PublishedMap,
    private readonly tree: LogTreeService,
    private readonly waiting: LogWaiting,
    private readonly proofs: LogProofService,
    private readonly entries: LogEntryStore,
    private readonly store: MapProofStore,
    private readonly streams: MapReadStore,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
    private readonly records: RecordProofs,
  ) {}

  /**
   * Proves the newest version of a subject among the first `asOfSize` entries, by default all. Returns null if the proof equals the
   * `known` one, which answered the same question. Throws `forbidden`, `not_found`, `not_logged_yet`, `erased`, and `validation_error` for a
   * size without a version.
   */
  async latestUnless(
    caller: Caller,
    subject: SubjectRef,
    { asOfSize, waitSeconds }: LatestOptions,
    known: KnownProof | undefined,
  ): Promise<LatestProof | null> {
    let awaited: number | undefined;
    const find = async (): Promise<{ head: LoggedHead; checkpoint: LogCheckpoint; logIndex: number } | null> => {
      const checkpoint = await this.tree.checkpoint();
      const size = checkpoint?.size ?? 0;
      const head = await this.store.latest(
        actorOf(caller),
        subject,
        Math.min(asOfSize ?? size, size),
        known?.entry.salt,
      );
      this.access.require(caller, head.facts, RULES.readLatest);
      await this.map.require();
      if (head.newest === null) throw notFound();
      // A version that was written meanwhile is not awaited, or a subject that changes all the time would never be proved.
      awaited ??= asOfSize === undefined ? head.newest : 0;
      if (checkpoint === null || (head.version ?? 0) < awaited) return null;
      return { head, checkpoint, logIndex: (head.isKnown ? known?.entry : head.snapshot)?.logIndex ?? 0 };
    };
    const { head, checkpoint, logIndex } = (await this.waiting.published(caller, find, waitSeconds)).entry;
    const { size, note } = checkpoint;
    if (asOfSize !== undefined && asOfSize > size) throw asOfRefused(`must be at most ${size}, the published size`);
    const version = head.version ?? 0;
    const disclose = () => this.disclosures.record(caller, head.disclosure, { from: version, to: version }, 'proof');
    if (head.isKnown && known?.checkpoint === note) {
      await disclose();
      return null;
    }
    const stream = versionStream(subject.subjectType, subject.subjectId);
    const proved = await this.map.newest(caller, checkpoint, { stream, guess: version, asOfSize });
    if (proved.number === 0) {
      if (proved.firstIndex === null) throw notLoggedYet('No version is in the published log yet.');
      throw asOfRefused(`must be from ${proved.firstIndex + 1}, the first size that has a version, to ${size}`);
    }
    if (proved.number !== version || proved.logIndex !== logIndex)
      throw notLoggedYet('Earlier versions of this subject are not in the published log yet.');
    await disclose();
    const { snapshot, erasure } = head;
    if (erasure !== null && snapshot !== null) throw new ErasedError(erasedView({ ...snapshot.fact, erasure }));
    const entry = snapshot === null ? known?.entry : await this.entryOf(snapshot);
    if (entry === undefined) throw new Error('the head was proved, but neither read nor known');
    return { ...(await this.headOf(entry, size, proved)), asOfSize: asOfSize ?? size, checkpoint: note };
  }

  /**
   * Proves that a stream of a subject has no further number. Throws `forbidden`, `not_found` without a map, `not_logged_yet`, and
   * `validation_error` for records of a stream that has none.
   */
  async absence(caller: Caller, subject: SubjectRef, stream: AbsenceStream, options: EndOptions): Promise<ProvedEnd> {
    const { nameOf, rule } = SUBJECT_STREAMS[stream];
    const name = nameOf(caller.tenantId, subject);
    let guess: number | null = null;
    if (stream === 'p') requireAccess((await this.store.ofTenant(actorOf(caller))).facts, rule);
    else {
      const { facts, newest } = await this.store.ofSubject(actorOf(caller), subject);
      requireAccess(facts, stream === 'v' && newest !== null ? RULES.submitLaterState : rule);
      if (stream === 'v') guess = newest ?? 0;
    }
    return this.end(caller, { name, guess, hasRecords: stream === 'r' }, options);
  }

  /** Proves that a stream of a tenant has no further number. Throws like {@link absence}. */
  async tenantAbsence(caller: Caller, stream: TenantAbsenceStream, options: EndOptions): Promise<ProvedEnd> {
    const { nameOf, rule } = TENANT_STREAMS[stream];
    requireAccess((await this.store.ofTenant(actorOf(caller))).facts, rule);
    return this.end(caller, { name: nameOf(caller.tenantId), guess: null, hasRecords: stream === 'd' }, options);
  }

  /** Proves the newest state of a grant to members of the grantor and of the grantee. Throws like {@link absence}. */
  async grantState(caller: Caller, grantId: string, waitSeconds: number): Promise<GrantStateProof> {
    const find = async () => {
      const checkpoint = await this.tree.checkpoint();
      const { fact, entry } = await this.newestFact(actorOf(caller), grantId);
      await this.map.require();
      return entry === null || checkpoint === null || entry.logIndex >= checkpoint.size
        ? null
        : { fact, checkpoint, entry, logIndex: entry.logIndex };
    };
    const found = (await this.waiting.published(caller, find, waitSeconds)).entry;
    const stream = grantStream(grantId);
    const guess = await this.streams.lastNumber(stream);
    const proved = await this.map.newest(caller, found.checkpoint, { stream, guess });
    if (proved.logIndex !== found.logIndex) throw notLoggedYet('The grant changed during this request.');
    const entry = await this.entryOf(found.entry);
    return { ...(await this.headOf(entry, found.checkpoint.size, proved)), fact: found.fact };
  }

  private async newestFact(actor: Actor, grantId: string) {
    for (const fact of NEWEST_FIRST) {
      const { facts, exists, isSo, entry } = await this.entries.ofGrant(actor, grantId, fact);
      requireAccess(facts, RULES.readGrants);
      if (!exists) break;
      if (isSo) return { fact, entry };
    }
    throw new DomainError(
      'not_found',
      'No such grant that this tenant issued or received. List its grants for their ids.',
    );
  }

  private async end(
    caller: Caller,
    { name: stream, guess, hasRecords }: { name: string; guess: number | null; hasRecords: boolean },
    { recordsFrom: from, waitSeconds }: EndOptions,
  ): Promise<ProvedEnd> {
    if (from > 0 && !hasRecords) throw recordsRefused();
    const { startsAt } = await this.map.require();
    const find = () => Promise.resolve({ logIndex: startsAt });
    const { checkpoint } = await this.waiting.published(caller, find, waitSeconds);
    const known = guess ?? (await this.streams.lastNumber(stream));
    const proved = await this.map.newest(caller, checkpoint, { stream, guess: known });
    if (from === 0) return { proved, records: null };
    return { proved, records: await this.records.from(caller, checkpoint, stream, { from, count: proved.number }) };
  }

  /** Returns an entry as it was hashed. Equal salts mean the same entry. */
  private async entryOf(entry: LogEntry): Promise<LoggedEntry> {
    const name = entry.salt?.toString('base64') ?? '';
    const known = this.hashed.get(name);
    if (known !== undefined) return known;
    const made = await this.proofs.asHashed(entry);
    this.hashed.set(name, made);
    return made;
  }

  private async headOf(entry: LoggedEntry, size: number, proved: ProvedNumber): Promise<ProvedHead> {
    return { entry, inclusion: await this.tree.inclusion(entry.logIndex, size), proved };
  }
}

function actorOf({ tenantId, principalId }: Caller): Actor {
  return { tenantId, principalId };
}

function recordsRefused(): DomainError {
  const message = 'is only for the streams d and r, whose entries have records';
  return new DomainError('validation_error', `records_from ${message}.`, [
    { path: '/query/records_from', message, code: 'invalid_value' },
  ]);
}

const NEWEST_FIRST: readonly GrantFact[] = GRANT_FACTS.toReversed();
