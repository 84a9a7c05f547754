import {
  type Actor,
  DomainError,
  type GrantFact,
  KEYED_ENTRY_VERSION,
  keyedLeafText,
  LOG_ENTRY_VERSION,
  logEntryText,
  type Reader,
  requireAccess,
  RULES,
} from '@iss/domain';
import { encodeBase64url } from '@iss/map';
import { EntryKeys, type ErasureRef, ErasureStore, type LogEntry, LogEntryStore } from '@iss/persistence';
import { encodeBase64, leafHash, toHex } from '@iss/tlog';
import { Injectable } from '@nestjs/common';
import { Disclosures } from '../access/disclosures';
import { type Erased, ErasedError, erasedView } from '../access/erased';
import { notFound, ReadAccess } from '../access/read-access';
import type { Asker } from '../runtime/asker';
import { LogTreeService, notLoggedYet } from './log-tree.service';
import { LogWaiting } from './log-waiting';

/** An entry of the log as it was hashed. */
export interface LoggedEntry {
  readonly logIndex: number;
  /** Unique to this entry. With the salt of the view's entry, if there is one. */
  readonly salt: Buffer;
  readonly text: string;
  /** Its keys in the map. Null if its leaf contains none. */
  readonly keys: readonly Uint8Array[] | null;
  /** The hash of its leaf. */
  readonly leaf: Uint8Array;
  /** The entry of a version's view, if this is the entry of the version and does not name the view. */
  readonly view?: LoggedEntry;
}

/** The proof that a fact is in the log, against one published checkpoint. */
export interface InclusionOfFact {
  readonly origin: string;
  readonly entry: LoggedEntry;
  readonly size: number;
  readonly inclusion: readonly Uint8Array[];
  /** The signed note; null if the note of the requested size is no longer stored. */
  readonly checkpoint: string | null;
  /** The proof of the entry of the view; null if there is none in this tree. */
  readonly view: ViewProof | null;
}

/** The proof that the view of a version is in the log. */
interface ViewProof {
  readonly entry: LoggedEntry;
  readonly inclusion: readonly Uint8Array[];
}

/** The entry of an erasure, in place of the entry that the erasure made unprovable. */
interface ErasingEntry extends LoggedEntry {
  readonly of: { readonly erased: Erased; readonly logIndex: number };
}

/** The remembered parts of an earlier proof. */
export type KnownProof = Pick<InclusionOfFact, 'entry' | 'checkpoint'>;

export interface ProofOptions {
  /** The published size to prove against; undefined for the newest. */
  size: number | undefined;
  /** Seconds to wait for a fact that is not in the published tree yet. */
  waitSeconds: number;
}

/** Proves facts to callers that may read them. */
@Injectable()
export class LogProofService {
  constructor(
    private readonly tree: LogTreeService,
    private readonly waiting: LogWaiting,
    private readonly entries: LogEntryStore,
    private readonly erasures: ErasureStore,
    private readonly keys: EntryKeys,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
  ) {}

  /**
   * Proves a snapshot. Throws `forbidden`, `not_found`, `not_logged_yet`, and `validation_error` for a size without the
   * entry. Throws `erased` for an erased version, with the proofs that remain: its place in the log, and the entry of
   * its erasure.
   */
  ofSnapshot(reader: Reader & Asker, snapshotId: string, options: ProofOptions): Promise<InclusionOfFact> {
    const find = () => this.entryOfSnapshot(reader, snapshotId, undefined, options.waitSeconds > 0);
    return this.prove(reader, find, options);
  }

  /**
   * Proves a snapshot against the newest checkpoint. Returns null if the proof equals the known one. Throws like {@link
   * ofSnapshot}.
   */
  async ofSnapshotUnless(
    reader: Reader & Asker,
    snapshotId: string,
    waitSeconds: number,
    known: KnownProof | undefined,
  ): Promise<InclusionOfFact | null> {
    const find = () => this.entryOfSnapshot(reader, snapshotId, known?.entry, waitSeconds > 0);
    const { entry, checkpoint } = await this.waiting.published(reader, find, waitSeconds);
    if (entry === known?.entry && checkpoint.note === known.checkpoint) return null;
    return this.proofAt(entry, checkpoint.size, checkpoint);
  }

  /** Proves a fact of a grant to members of the grantor and of the grantee. Throws like {@link ofSnapshot}. */
  async ofGrant(actor: Actor, grantId: string, fact: GrantFact, options: ProofOptions): Promise<InclusionOfFact> {
    return this.prove(
      actor,
      async () => {
        const { facts, exists, isSo, entry } = await this.entries.ofGrant(actor, grantId, fact);
        requireAccess(facts, RULES.readGrants);
        if (!exists)
          throw new DomainError(
            'not_found',
            'No such grant that this tenant issued or received. List its grants for their ids.',
          );
        if (!isSo) throw new DomainError('not_found', `The grant was not ${fact}. Ask for another fact.`);
        return entry === null ? null : this.asHashed(entry);
      },
      options,
    );
  }

  /** Proves a change of the tenant's owner to its members. Throws like {@link ofSnapshot}. */
  async ofOwnerChange(actor: Actor, logIndex: number, options: ProofOptions): Promise<InclusionOfFact> {
    return this.prove(
      actor,
      async () => {
        const { facts, entry } = await this.entries.ofOwnerChange(actor, logIndex);
        requireAccess(facts, RULES.readTenant);
        if (entry === null)
          throw new DomainError(
            'not_found',
            'The log has no change of this tenant’s owner at this index. List the owner history for the indexes.',
          );
        return this.asHashed(entry);
      },
      options,
    );
  }

  /**
   * Proves an erasure to callers that may read it. Throws like {@link ofSnapshot}, and `not_found` if it was not
   * completed.
   */
  async ofErasure(ref: ErasureRef, options: ProofOptions): Promise<InclusionOfFact> {
    const { facts, erasure } = await this.erasures.find(ref);
    requireAccess(facts, RULES.readErasures);
    if (erasure?.status !== 'erased')
      throw new DomainError(
        'not_found',
        "No such completed erasure of this subject. List the subject's erasures for their ids.",
      );
    return this.prove(
      ref,
      async () => {
        const entry = await this.entries.ofErasure(erasure.erasureId);
        return entry === null ? null : this.asHashed(entry);
      },
      options,
    );
  }

  /**
   * Returns the snapshot's entry. Returns null before it is in the log, the `known` object itself if it is still valid,
   * and the erasure's entry for an erased version. With `waitsForView`, also returns null before the entry of its view is in the
   * log, if it has one.
   */
  private async entryOfSnapshot(
    reader: Reader & Asker,
    snapshotId: string,
    known: LoggedEntry | undefined,
    waitsForView: boolean,
  ): Promise<LoggedEntry | ErasingEntry | null> {
    const { facts, disclosure, version, isKnown, entry, view, isViewWaiting, erasure } = await this.entries.ofSnapshot(
      reader,
      snapshotId,
      known?.salt,
    );
    // An id cannot be guessed, so an unknown one is 404 for any member.
    this.access.require(reader, facts, version === null ? { role: RULES.readById.role } : RULES.readById);
    if (version === null) throw notFound();
    if ((!isKnown && entry === null) || (waitsForView && isViewWaiting && erasure === null)) return null;
    if (disclosure !== null) await this.disclosures.record(reader, disclosure, { from: version, to: version }, 'proof');
    if (isKnown && known !== undefined) return known;
    if (erasure !== null && entry?.fact.type === 'snapshot.created') {
      const erasing = await this.entries.ofErasure(erasure.erasureId);
      const erased = erasedView({ ...entry.fact, erasure });
      return erasing === null ? null : { ...(await this.asHashed(erasing)), of: { erased, logIndex: entry.logIndex } };
    }
    if (entry === null) return null;
    const logged = await this.asHashed(entry);
    if (view === null) return logged;
    const ofView = await this.asHashed(view);
    return { ...logged, salt: Buffer.concat([logged.salt, ofView.salt]), view: ofView };
  }

  /** Returns an entry as it was hashed. */
  async asHashed({ logIndex, fact, salt }: LogEntry): Promise<LoggedEntry> {
    if (salt === null) throw notLoggedYet('The version was erased during this request.');
    const [keys = null] = await this.keys.keysOf([logIndex]);
    const text = logEntryText(fact, salt, keys === null ? LOG_ENTRY_VERSION : KEYED_ENTRY_VERSION);
    return { logIndex, salt, text, keys, leaf: leafHash(keys === null ? text : keyedLeafText(text, keys)) };
  }

  private async prove(
    reader: Reader,
    find: () => Promise<LoggedEntry | null>,
    { size, waitSeconds }: ProofOptions,
  ): Promise<InclusionOfFact> {
    const { entry, checkpoint } = await this.waiting.published(reader, find, waitSeconds);
    if (size === undefined || size === checkpoint.size) return this.proofAt(entry, checkpoint.size, checkpoint);
    requireProvable(size, entry.logIndex, checkpoint.size);
    const older = await this.tree.checkpointOf(size);
    return this.proofAt(entry, size, older ?? { origin: checkpoint.origin, note: null });
  }

  private async proofAt(
    entry: LoggedEntry | ErasingEntry,
    size: number,
    { origin, note }: { origin: string; note: string | null },
  ): Promise<InclusionOfFact> {
    const inclusion = await this.tree.inclusion(entry.logIndex, size);
    const { view } = entry;
    const isViewIn = view !== undefined && view.logIndex < size;
    const ofView = isViewIn ? { entry: view, inclusion: await this.tree.inclusion(view.logIndex, size) } : null;
    const proof = { origin, entry, size, inclusion, checkpoint: note, view: ofView };
    if ('of' in entry) throw await this.erasedError(entry.of, proof);
    return proof;
  }

  private async erasedError({ erased, logIndex }: ErasingEntry['of'], erasure: InclusionOfFact): Promise<ErasedError> {
    const { size } = erasure;
    const proof = {
      log_index: logIndex,
      leaf_hash: toHex(await this.tree.leaf(logIndex, size)),
      inclusion: (await this.tree.inclusion(logIndex, size)).map(encodeBase64),
      erasure: inclusionProof(erasure),
    };
    return new ErasedError({ ...erased, proof });
  }
}

/** Returns a proof as responses show it. */
export function inclusionProof({ origin, size, checkpoint, view, ...proved }: InclusionOfFact) {
  return {
    log_origin: origin,
    tree_size: size,
    ...leafProof(proved),
    checkpoint,
    view: view && leafProof(view),
  };
}

function leafProof({ entry, inclusion }: Pick<InclusionOfFact, 'entry' | 'inclusion'>) {
  return {
    log_index: entry.logIndex,
    leaf_hash: toHex(entry.leaf),
    entry: entry.text,
    keys: entry.keys?.map(encodeBase64url) ?? null,
    inclusion: inclusion.map(encodeBase64),
  };
}

function requireProvable(size: number, index: number, published: number): void {
  if (size > index && size <= published) return;
  const message = `must be from ${index + 1}, the first size that has the entry, to ${published}, the published one`;
  throw new DomainError('validation_error', `tree_size ${message}.`, [
    { path: '/query/tree_size', message, code: 'out_of_range' },
  ]);
}
