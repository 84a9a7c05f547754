import { setTimeout as pause } from 'node:timers/promises';
import { type Actor, DomainError, logEntryText, type Reader, requireAccess, RULES } from '@iss/domain';
import { type GrantFact, type LogCheckpoint, type LogEntry, LogEntryStore, SnapshotReadStore } from '@iss/persistence';
import { leafHash } from '@iss/tlog';
import { Injectable } from '@nestjs/common';
import { notFound, ReadAccess } from '../access/read-access';
import { LogTreeService, notLoggedYet } from './log-tree.service';

/** The proof that a fact is in the log, against one published checkpoint. */
export interface LogProof {
  origin: string;
  index: number;
  size: number;
  leaf: Uint8Array;
  entry: string;
  inclusion: readonly Uint8Array[];
  /** The signed note; null where that of the asked size is no longer kept. */
  checkpoint: string | null;
}

export interface ProofOptions {
  /** The published size to prove against; undefined: the newest. */
  size: number | undefined;
  /** Seconds to wait for a fact that is not in the published tree yet. */
  waitSeconds: number;
}

/** While it waits a request asks so often, and holds no connection in between. */
const WAIT_STEP_MS = 100;

/** Requests that wait at once; one more is told at once that it has to come again. */
const MAX_WAITING = 100;

/** Proofs of facts, for those who may read the fact. */
@Injectable()
export class LogProofService {
  private waiting = 0;

  constructor(
    private readonly tree: LogTreeService,
    private readonly entries: LogEntryStore,
    private readonly snapshots: SnapshotReadStore,
    private readonly access: ReadAccess,
  ) {}

  /** Throws `forbidden`, `not_found`, `not_logged_yet`, or `validation_error` for a size that proves nothing. */
  async ofSnapshot(reader: Reader, snapshotId: string, options: ProofOptions): Promise<LogProof> {
    const target = { kind: 'id', snapshotId } as const;
    const { facts, snapshot } = await this.snapshots.read(reader, target, { envelope: false });
    this.access.require(reader, facts, snapshot === null ? { role: RULES.readById.role } : RULES.readById);
    if (snapshot === null) throw notFound();
    return this.prove(() => this.entries.ofSnapshot(snapshotId), options);
  }

  /** For members of the grantor and of the grantee. Throws as {@link ofSnapshot}. */
  async ofGrant(actor: Actor, grantId: string, fact: GrantFact, options: ProofOptions): Promise<LogProof> {
    return this.prove(async () => {
      const { facts, exists, isRevoked, entry } = await this.entries.ofGrant(actor, grantId, fact);
      requireAccess(facts, RULES.readGrants);
      if (!exists) throw new DomainError('not_found', 'No such grant that this tenant made or was given.');
      if (fact === 'revoked' && !isRevoked) throw new DomainError('not_found', 'The grant is not revoked.');
      return entry;
    }, options);
  }

  /** Of a change of the tenant's owner, for its members. Throws as {@link ofSnapshot}. */
  async ofOwnerChange(actor: Actor, logIndex: number, options: ProofOptions): Promise<LogProof> {
    return this.prove(async () => {
      const { facts, entry } = await this.entries.ofOwnerChange(actor, logIndex);
      requireAccess(facts, RULES.readTenant);
      if (entry === null)
        throw new DomainError('not_found', 'No change of this tenant’s owner stands there in the log.');
      return entry;
    }, options);
  }

  private async prove(find: () => Promise<LogEntry | null>, { size, waitSeconds }: ProofOptions): Promise<LogProof> {
    const { entry, checkpoint } = await this.published(find, waitSeconds);
    if (size === undefined || size === checkpoint.size) return this.proofAt(entry, checkpoint.size, checkpoint);
    requireProvable(size, entry.logIndex, checkpoint.size);
    const kept = await this.tree.checkpointOf(size);
    return this.proofAt(entry, size, kept ?? { origin: checkpoint.origin, note: null });
  }

  /** An entry, as soon as it is found, with a published checkpoint of a tree that has it. Throws `not_logged_yet`. */
  async published(
    find: () => Promise<LogEntry | null>,
    waitSeconds: number,
  ): Promise<{ entry: LogEntry; checkpoint: LogCheckpoint }> {
    const deadlineMs = performance.now() + waitSeconds * 1000;
    for (;;) {
      const [entry, checkpoint] = await Promise.all([find(), this.tree.checkpoint()]);
      if (entry !== null && checkpoint !== null && entry.logIndex < checkpoint.size) return { entry, checkpoint };
      if (this.waiting >= MAX_WAITING)
        throw notLoggedYet('This is not in the published log yet, and many wait for it.');
      this.waiting += 1;
      const isGrown = await this.grown(checkpoint?.size ?? 0, deadlineMs).finally(() => (this.waiting -= 1));
      if (!isGrown) throw notLoggedYet('This is not in the published log yet.');
    }
  }

  /** Whether a larger tree was published in time. Asks nothing but the checkpoint, which all who wait share. */
  private async grown(size: number, deadlineMs: number): Promise<boolean> {
    while (performance.now() + WAIT_STEP_MS <= deadlineMs) {
      await pause(WAIT_STEP_MS);
      if (((await this.tree.checkpoint())?.size ?? 0) > size) return true;
    }
    return false;
  }

  private async proofAt(
    { logIndex: index, fact, salt }: LogEntry,
    size: number,
    { origin, note }: { origin: string; note: string | null },
  ): Promise<LogProof> {
    const entry = logEntryText(fact, salt);
    const inclusion = await this.tree.inclusion(index, size);
    return { origin, index, size, leaf: leafHash(entry), entry, inclusion, checkpoint: note };
  }
}

function requireProvable(size: number, index: number, published: number): void {
  if (size > index && size <= published) return;
  const message = `must be from ${index + 1}, the first size that has the entry, to ${published}, the published one`;
  throw new DomainError('validation_error', `tree_size ${message}.`, [
    { path: '/query/tree_size', message, code: 'out_of_range' },
  ]);
}
