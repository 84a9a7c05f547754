import { randomUUID } from 'node:crypto';
import { PackBuilder, type PlaceInPack, type TextArchive } from '@iss/archive';
import {
  type ArchiveCandidate,
  type ArchiveClaim,
  ArchiveStore,
  Database,
  type PackedVersion,
  type TextToArchive,
  ViewStore,
} from '@iss/persistence';
import { LOGGER, type Logger, partsOf } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { ViewMaker } from '../log/views/view-maker';
import { addJitter, Rounds } from '../rounds';
import { SETTINGS, type WorkerSettings } from '../settings';
import { PackThreads } from './pack-threads';

/** If a worker takes longer, another worker may lease its tenants. Even then, no text is moved twice. */
const LEASE_MS = 600_000;
const INTERVAL_MS = 60_000;
/** The pause for a tenant whose texts do not fill a pack. */
const WAIT_MS = 600_000;
/** Bytes of text for one pack: compressed, a pack has 4 to 16 MB. */
const FULL_BYTES = 24 << 20;
/** With fewer bytes, texts wait for further ones, for at most a day. */
const WORTH_BYTES = 12 << 20;
const MAX_TEXTS = 10_000;
/** Bytes of text that one statement reads. */
const READ_BYTES = 4 << 20;
/** Parts of a pack that are read and sealed at once: PostgreSQL reads one while threads seal the other. */
const PARTS_AT_ONCE = 2;
const DELETED_AT_ONCE = 100;

/** A version whose text is in the pack, at this place. */
interface PlacedText extends PlaceInPack {
  subjectKey: string;
  snapshotVersion: number;
  envelopeHash: string;
  secret: Buffer;
}

/** A version with its sealed text. */
interface SealedVersion extends Omit<PlacedText, keyof PlaceInPack> {
  sealed: Buffer;
}

/** The places up to which leased tenants were examined, and the versions that were found. */
interface Collected {
  examined: ArchiveClaim[];
  candidates: ArchiveCandidate[];
  bytes: number;
}

/**
 * Moves the texts of old versions to the archive, and deletes unused packs. Any number of workers may do so at once.
 */
@Injectable()
export class Archiver {
  private readonly rounds: Rounds;
  private readonly threads = new PackThreads();
  private readonly archive: TextArchive | null;
  private readonly moved: Counter;
  private readonly failed: Counter;

  constructor(
    database: Database,
    private readonly store: ArchiveStore,
    private readonly views: ViewStore,
    private readonly viewMaker: ViewMaker,
    registry: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'archiveAfterDays' | 'sweepIntervalMs'>,
  ) {
    this.archive = database.archive;
    this.moved = new Counter({
      name: 'archive_texts_moved_total',
      help: 'Texts of old versions that this process moved to the archive',
      registers: [registry],
    });
    this.failed = new Counter({
      name: 'archive_rounds_failed_total',
      help: 'Attempts of this process to archive texts that failed; the texts stayed in the database',
      registers: [registry],
    });
    this.rounds = new Rounds({
      work: () => this.archiveDue(),
      pauseMs: addJitter(this.pauseMs),
      failure: 'Old texts could not be archived; they stay in the database. Retrying',
      logger,
    });
  }

  /** Does nothing without an archive. */
  start(): void {
    if (this.archive !== null) this.rounds.start();
  }

  /** Resolves when the current pack is archived. */
  async stop(): Promise<void> {
    await this.rounds.stop();
    await this.threads.close();
  }

  /** With an age of 0, texts move as soon as there is a later version. */
  private get pauseMs(): number {
    return this.settings.archiveAfterDays === 0 ? this.settings.sweepIntervalMs : INTERVAL_MS;
  }

  /** Archives all texts that are due, and deletes unused packs. */
  async archiveDue(): Promise<void> {
    const { archive } = this;
    if (archive === null) return;
    if (await this.store.prepare()) await this.rounds.repeat(() => this.archiveSome(archive));
    for (const object of await this.store.unused(DELETED_AT_ONCE)) {
      await archive.remove(object);
      await this.store.forget(object);
    }
  }

  /** Fills and moves one pack. Returns whether there may be more. */
  private async archiveSome(archive: TextArchive): Promise<boolean> {
    const lease = randomUUID();
    const claims: ArchiveClaim[] = [];
    try {
      return await this.archiveClaimed(archive, lease, claims);
    } catch (error) {
      this.failed.inc();
      // A failure does not matter, because the lease expires.
      await this.store.advance(lease, claims, this.pauseMs).catch(() => undefined);
      throw error;
    }
  }

  private async archiveClaimed(archive: TextArchive, lease: string, claims: ArchiveClaim[]): Promise<boolean> {
    const { examined, candidates, bytes } = await this.collect(lease, claims);
    if (claims.length === 0) return false;
    const isWorth =
      bytes >= WORTH_BYTES || this.settings.archiveAfterDays === 0 || claims.some(({ isOverdue }) => isOverdue);
    if (candidates.length > 0 && !isWorth) {
      await this.store.advance(lease, claims, WAIT_MS);
      return false;
    }
    const placed = new PackBuilder();
    const texts = await this.seal(candidates, placed);
    if (texts.length === 0) {
      await this.store.advance(lease, examined, this.pauseMs);
      return false;
    }
    const object = randomUUID();
    await this.store.addPack(object, placed.bytes);
    await archive.put(object, placed.build());
    const versions = await this.readBack(archive, object, placed.bytes, texts);
    // Due again at once, because there may be more.
    const moved = await this.store.move(object, versions, { lease, claims: examined, pauseMs: 0 });
    this.moved.inc(moved);
    this.logger.info({ object, texts: moved, bytes: placed.bytes }, 'Archived texts of old versions');
    return true;
  }

  /** Leases tenants until their old versions fill a pack, or none is due. Adds the leases to `claims`. */
  private async collect(lease: string, claims: ArchiveClaim[]): Promise<Collected> {
    const collected: Collected = { examined: [], candidates: [], bytes: 0 };
    while (!isFull(collected)) {
      const claim = await this.store.claim(lease, LEASE_MS);
      if (claim === null) break;
      claims.push(claim);
      const found = new Map<string, ArchiveCandidate>();
      const agedTo = await this.examine(claim.tenantId, 'aged', claim.agedTo, collected, found);
      const supersededTo = await this.examine(claim.tenantId, 'superseded', claim.supersededTo, collected, found);
      collected.examined.push({ ...claim, agedTo, supersededTo });
    }
    return collected;
  }

  /** Adds candidates until they fill a pack. Returns the place before which all were added. */
  private async examine(
    tenantId: string,
    which: 'aged' | 'superseded',
    from: string,
    collected: Collected,
    found: Map<string, ArchiveCandidate>,
  ): Promise<string> {
    let place = from;
    let isMore = true;
    for (let next = from; isMore && !isFull(collected) && !this.rounds.isStopping;) {
      const examined = await this.store.examine(tenantId, which, next, this.settings.archiveAfterDays);
      for (const candidate of examined.candidates) {
        const key = `${candidate.subjectKey}/${candidate.snapshotVersion}`;
        if (found.has(key)) continue;
        // The other versions will be found again from the same place.
        if (isFull(collected)) return place;
        found.set(key, candidate);
        collected.candidates.push(candidate);
        collected.bytes += candidate.bytes;
      }
      next = examined.examinedTo;
      place = examined.reached;
      isMore = examined.isMore;
    }
    return place;
  }

  /** Adds the texts to the pack in the order of their subjects, so that the versions of one are next to each other. */
  private async seal(candidates: readonly ArchiveCandidate[], pack: PackBuilder): Promise<PlacedText[]> {
    const sorted = candidates.toSorted(
      (one, other) =>
        Number(BigInt(one.subjectKey) - BigInt(other.subjectKey)) || one.snapshotVersion - other.snapshotVersion,
    );
    const parts = partsOf(sorted, ({ bytes }) => bytes, READ_BYTES);
    const sealed: SealedVersion[][] = [];
    const waiting = parts.entries();
    const sealParts = async (): Promise<void> => {
      for (const [index, part] of waiting) sealed[index] = await this.sealPart(part);
    };
    await Promise.all(Array.from({ length: PARTS_AT_ONCE }, sealParts));
    return sealed.flat().map(({ sealed: bytes, ...version }) => ({ ...version, ...pack.add(bytes) }));
  }

  /** Reads and seals texts. A damaged text stays where the operator can compare it. */
  private async sealPart(part: readonly ArchiveCandidate[]): Promise<SealedVersion[]> {
    const read = await this.store.texts(part);
    const secrets = await this.secretsOf(read);
    const texts = read.flatMap((text) => {
      const secret = secrets.get(text.snapshotId);
      return secret === undefined ? [] : [{ ...text, secret }];
    });
    const sealed = await this.threads.seal(texts);
    return texts.flatMap(({ subjectKey, snapshotVersion, snapshotId, envelopeHash, secret }, index) => {
      const bytes = sealed[index] ?? null;
      if (bytes !== null) return [{ subjectKey, snapshotVersion, envelopeHash, secret, sealed: bytes }];
      this.logger.error({ snapshot_id: snapshotId }, 'A damaged text is not archived');
      return [];
    });
  }

  /** Returns the secrets of the views by snapshot id, and makes views for versions without one. */
  private async secretsOf(texts: readonly TextToArchive[]): Promise<Map<string, Buffer>> {
    const secrets = new Map<string, Buffer>();
    for (const { snapshotId, secret } of texts) if (secret !== null) secrets.set(snapshotId, secret);
    const made = await this.viewMaker.commit(texts.filter(({ secret }) => secret === null));
    const views = made.flatMap(({ snapshotId, secret, hash }) =>
      hash === null ? [] : [{ snapshotId, secret: Buffer.from(secret), hash: Buffer.from(hash, 'hex') }],
    );
    for (const [snapshotId, { secret }] of await this.views.commit(views)) {
      if (secret !== null) secrets.set(snapshotId, secret);
    }
    return secrets;
  }

  /** Reads the pack from each store. Throws unless each text has its hash. */
  private async readBack(
    archive: TextArchive,
    object: string,
    bytes: number,
    texts: readonly PlacedText[],
  ): Promise<PackedVersion[]> {
    const [pack = Buffer.alloc(0), ...copies] = await archive.readBack(object, bytes);
    if (!copies.every((copy) => copy.equals(pack))) throw new Error(`The copy of the pack ${object} differs`);
    const hashes = await this.threads.hashesOf(pack, texts);
    return texts.map(({ subjectKey, snapshotVersion, envelopeHash, offset, length }, index) => {
      const hash = hashes[index] ?? null;
      if (hash?.toString('hex') !== envelopeHash) throw new Error(`The archive returned other bytes for ${object}`);
      return { subjectKey, snapshotVersion, offset, length, hash };
    });
  }
}

function isFull({ candidates, bytes }: Collected): boolean {
  return candidates.length >= MAX_TEXTS || bytes >= FULL_BYTES;
}
