import { type Actor, DomainError, type GrantFact, logEntryText, type Reader, requireAccess, RULES } from '@iss/domain';
import { type LogEntry, LogEntryStore } from '@iss/persistence';
import { leafHash } from '@iss/tlog';
import { Injectable } from '@nestjs/common';
import { Disclosures } from '../access/disclosures';
import { notFound, ReadAccess } from '../access/read-access';
import type { Asker } from '../work/asker';
import { LogTreeService } from './log-tree.service';
import { LogWaiting } from './log-waiting';

/** An entry of the log as it was hashed. */
export interface LoggedEntry {
  readonly logIndex: number;
  /** No other entry has it. */
  readonly salt: Buffer;
  readonly text: string;
  /** The hash of its leaf. */
  readonly leaf: Uint8Array;
}

/** The proof that a fact is in the log, against one published checkpoint. */
export interface LogProof {
  readonly origin: string;
  readonly entry: LoggedEntry;
  readonly size: number;
  readonly inclusion: readonly Uint8Array[];
  /** The signed note; null where that of the asked size is no longer kept. */
  readonly checkpoint: string | null;
}

/** What is remembered of a proof that was given before. */
export type KnownProof = Pick<LogProof, 'entry' | 'checkpoint'>;

export interface ProofOptions {
  /** The published size to prove against; undefined: the newest. */
  size: number | undefined;
  /** Seconds to wait for a fact that is not in the published tree yet. */
  waitSeconds: number;
}

/** Proofs of facts, for those who may read the fact. */
@Injectable()
export class LogProofService {
  constructor(
    private readonly tree: LogTreeService,
    private readonly waiting: LogWaiting,
    private readonly entries: LogEntryStore,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
  ) {}

  /** Throws `forbidden`, `not_found`, `not_logged_yet`, or `validation_error` for a size that proves nothing. */
  ofSnapshot(reader: Reader & Asker, snapshotId: string, options: ProofOptions): Promise<LogProof> {
    return this.prove(() => this.entryOfSnapshot(reader, snapshotId, undefined), options);
  }

  /** Against the newest checkpoint; null where that proof is the known one. Throws as {@link ofSnapshot}. */
  async ofSnapshotUnless(
    reader: Reader & Asker,
    snapshotId: string,
    waitSeconds: number,
    known: KnownProof | undefined,
  ): Promise<LogProof | null> {
    const find = () => this.entryOfSnapshot(reader, snapshotId, known?.entry);
    const { entry, checkpoint } = await this.waiting.published(find, waitSeconds);
    if (entry === known?.entry && checkpoint.note === known.checkpoint) return null;
    return this.proofAt(entry, checkpoint.size, checkpoint);
  }

  /** For members of the grantor and of the grantee. Throws as {@link ofSnapshot}. */
  async ofGrant(actor: Actor, grantId: string, fact: GrantFact, options: ProofOptions): Promise<LogProof> {
    return this.prove(async () => {
      const { facts, exists, isSo, entry } = await this.entries.ofGrant(actor, grantId, fact);
      requireAccess(facts, RULES.readGrants);
      if (!exists) throw new DomainError('not_found', 'No such grant that this tenant made or was given.');
      if (!isSo) throw new DomainError('not_found', `The grant was not ${fact}.`);
      return entry === null ? null : asHashed(entry);
    }, options);
  }

  /** Of a change of the tenant's owner, for its members. Throws as {@link ofSnapshot}. */
  async ofOwnerChange(actor: Actor, logIndex: number, options: ProofOptions): Promise<LogProof> {
    return this.prove(async () => {
      const { facts, entry } = await this.entries.ofOwnerChange(actor, logIndex);
      requireAccess(facts, RULES.readTenant);
      if (entry === null)
        throw new DomainError('not_found', 'No change of this tenant’s owner stands there in the log.');
      return asHashed(entry);
    }, options);
  }

  /** Null before it is in the log; the very one that is known where it still is that. */
  private async entryOfSnapshot(
    reader: Reader & Asker,
    snapshotId: string,
    known: LoggedEntry | undefined,
  ): Promise<LoggedEntry | null> {
    const { facts, disclosure, version, isKnown, entry } = await this.entries.ofSnapshot(
      reader,
      snapshotId,
      known?.salt,
    );
    // An id cannot be guessed, so an unknown one is 404 to any member.
    this.access.require(reader, facts, version === null ? { role: RULES.readById.role } : RULES.readById);
    if (version === null) throw notFound();
    if (!isKnown && entry === null) return null;
    if (disclosure !== null) await this.disclosures.record(reader, disclosure, { from: version, to: version }, 'proof');
    if (isKnown && known !== undefined) return known;
    return entry === null ? null : asHashed(entry);
  }

  private async prove(find: () => Promise<LoggedEntry | null>, { size, waitSeconds }: ProofOptions): Promise<LogProof> {
    const { entry, checkpoint } = await this.waiting.published(find, waitSeconds);
    if (size === undefined || size === checkpoint.size) return this.proofAt(entry, checkpoint.size, checkpoint);
    requireProvable(size, entry.logIndex, checkpoint.size);
    const kept = await this.tree.checkpointOf(size);
    return this.proofAt(entry, size, kept ?? { origin: checkpoint.origin, note: null });
  }

  private async proofAt(
    entry: LoggedEntry,
    size: number,
    { origin, note }: { origin: string; note: string | null },
  ): Promise<LogProof> {
    const inclusion = await this.tree.inclusion(entry.logIndex, size);
    return { origin, entry, size, inclusion, checkpoint: note };
  }
}

function asHashed({ logIndex, fact, salt }: LogEntry): LoggedEntry {
  const text = logEntryText(fact, salt);
  return { logIndex, salt, text, leaf: leafHash(text) };
}

function requireProvable(size: number, index: number, published: number): void {
  if (size > index && size <= published) return;
  const message = `must be from ${index + 1}, the first size that has the entry, to ${published}, the published one`;
  throw new DomainError('validation_error', `tree_size ${message}.`, [
    { path: '/query/tree_size', message, code: 'out_of_range' },
  ]);
}
