import {
  allValid,
  type CheckedLink,
  type DisclosureWay,
  DomainError,
  type Reader,
  RULES,
  type SubjectRef,
  walkChain,
} from '@iss/domain';
import {
  type LineageOrder,
  type LineageRange,
  type LineageRead,
  type Page,
  type PageRequest,
  type PagePosition,
  SnapshotListStore,
  type SnapshotRecord,
  toPage,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { Disclosures } from '../../../access/disclosures';
import { notFound, ReadAccess } from '../../../access/read-access';
import type { Asker } from '../../../work/asker';
import {
  SnapshotVerifier,
  type VerifiedSnapshot,
  type Verify,
  type VerifyOptions,
} from '../snapshot/snapshot-verifier';

export interface LineageRequest extends PageRequest {
  order: LineageOrder;
}

export interface HistoryRequest extends LineageRequest, VerifyOptions {
  withEnvelopes: boolean;
}

/** A page whose items are read while they are taken. */
export interface HistoryPage {
  items: AsyncIterable<VerifiedSnapshot>;
  next: PagePosition | null;
}

/** Every snapshot up to the newest one of a moment. */
export interface WholeLineage {
  headVersion: number;
  snapshots: AsyncIterable<SnapshotRecord>;
}

/** A snapshot's header, and whether it and its link to its parent hold. */
export interface ChainItem {
  snapshot: SnapshotRecord;
  chainValid: boolean | null;
}

export interface ChainPage extends Page<ChainItem> {
  /** Of all items of the page. */
  chainValid: boolean | null;
  /** Whether its items are all from version 1 to the newest. */
  isComplete: boolean;
}

/** A page of snapshots, and the newest version of all. */
interface SnapshotPage extends Page<SnapshotRecord> {
  headVersion: number;
}

/** Snapshots in one statement: their headers are read even where the envelopes of few of them fit. */
const BATCH_ROWS = 256;

/** Reads of a subject's lineage, tenant-scoped and global alike: history, chain proof, export. */
@Injectable()
export class SnapshotListService {
  constructor(
    private readonly lineage: SnapshotListStore,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
    private readonly verifier: SnapshotVerifier,
  ) {}

  async history(reader: Reader & Asker, subject: SubjectRef, request: HistoryRequest): Promise<HistoryPage> {
    const withEnvelopes = request.withEnvelopes || request.verify !== 'none';
    const via = request.withEnvelopes ? 'history' : 'headers';
    const page = await this.page(reader, subject, request, withEnvelopes, via);
    const verify = await this.verifier.prepare(reader, subject, rangeOf(page.items), request);
    const last = page.items.at(-1)?.snapshotVersion ?? 0;
    const snapshots = withEnvelopes ? this.walk(reader, subject, request.order, page.items, last) : page.items;
    return { items: verified(snapshots, verify), next: page.next };
  }

  /** Recomputes what it says, as `verify=chain` with a depth of 1 does for each item. */
  async chainProof(reader: Reader & Asker, subject: SubjectRef, request: LineageRequest): Promise<ChainPage> {
    const page = await this.page(reader, subject, request, false, 'proof');
    const { newest, oldest } = rangeOf(page.items);
    const links = await this.verifier.links(reader, subject, newest + 1, newest - oldest + 2);
    const items = page.items.map((snapshot) => ({ snapshot, chainValid: chainHolds(snapshot.snapshotVersion, links) }));
    const chainValid = allValid(items.map((item) => item.chainValid));
    return { items, next: page.next, chainValid, isComplete: oldest === 1 && newest === page.headVersion };
  }

  /** The newest version of this moment. Throws as {@link export} does. */
  async headVersion(reader: Reader, subject: SubjectRef): Promise<number> {
    const newest = { order: 'desc', after: null, limit: 1, withEnvelopes: false } as const;
    return (await this.read(reader, subject, newest)).headVersion;
  }

  /**
   * Every snapshot up to the newest one of this moment, ascending, read while they are taken, and recorded as shown before.
   * Throws `validation_error` when there are more than `maxSnapshots`; null: however many there are.
   */
  async export(
    reader: Reader & Asker,
    subject: SubjectRef,
    maxSnapshots: number | null,
    via: 'export' | 'bundle' = 'export',
  ): Promise<WholeLineage> {
    const range = { order: 'asc', after: null, limit: BATCH_ROWS, withEnvelopes: true } as const;
    const { disclosure, headVersion, snapshots } = await this.read(reader, subject, range);
    if (maxSnapshots !== null && headVersion > maxSnapshots) throw tooManyToExport(headVersion, maxSnapshots);
    await this.disclosures.record(reader, disclosure, { from: 1, to: headVersion }, via);
    return { headVersion, snapshots: this.walk(reader, subject, 'asc', snapshots, headVersion) };
  }

  private async page(
    reader: Reader & Asker,
    subject: SubjectRef,
    { order, limit, after }: LineageRequest,
    withEnvelopes: boolean,
    via: DisclosureWay,
  ): Promise<SnapshotPage> {
    const [version] = after ?? [];
    const range = { order, after: version === undefined ? null : Number(version), limit: limit + 1, withEnvelopes };
    const { disclosure, headVersion, snapshots, found } = await this.read(reader, subject, range);
    const page = toPage(
      snapshots,
      limit,
      (snapshot) => snapshot,
      ({ snapshotVersion }) => [snapshotVersion],
      found,
    );
    if (page.items.length > 0) {
      const { oldest, newest } = rangeOf(page.items);
      await this.disclosures.record(reader, disclosure, { from: oldest, to: newest }, via);
    }
    return { ...page, headVersion };
  }

  /** One statement, and the decision whether the reader may see what it found. */
  private async read(
    reader: Reader,
    subject: SubjectRef,
    range: LineageRange,
  ): Promise<LineageRead & { headVersion: number }> {
    const { headVersion, ...read } = await this.lineage.read(reader, subject, range);
    this.access.require(reader, read.facts, RULES.readLineage);
    if (headVersion === null) throw notFound();
    return { ...read, headVersion };
  }

  /**
   * Snapshots with their envelopes from those that were read on to the version `last`. Where an envelope did not fit any
   * more, the next statement begins; with each the access is decided anew, so that a revocation ends a running read.
   */
  private async *walk(
    reader: Reader,
    subject: SubjectRef,
    order: LineageOrder,
    first: readonly SnapshotRecord[],
    last: number,
  ): AsyncGenerator<SnapshotRecord, void> {
    let batch = first;
    while (batch.length > 0) {
      const whole = batch.filter(({ envelope }) => envelope !== null);
      yield* whole;
      const after = whole.at(-1)?.snapshotVersion ?? last;
      const left = Math.abs(last - after);
      if (left === 0) return;
      const range = { order, after, limit: Math.min(left, BATCH_ROWS), withEnvelopes: true };
      batch = (await this.read(reader, subject, range)).snapshots;
    }
  }
}

async function* verified(
  snapshots: AsyncIterable<SnapshotRecord> | Iterable<SnapshotRecord>,
  verify: Verify,
): AsyncGenerator<VerifiedSnapshot, void> {
  for await (const snapshot of snapshots) yield { snapshot, verification: await verify(snapshot) };
}

function rangeOf(snapshots: readonly SnapshotRecord[]): { newest: number; oldest: number } {
  const versions = snapshots.map(({ snapshotVersion }) => snapshotVersion);
  return { newest: Math.max(...versions), oldest: Math.min(...versions) };
}

function chainHolds(version: number, links: readonly CheckedLink[]): boolean | null {
  const at = links.findIndex(({ snapshotVersion }) => snapshotVersion === version);
  const link = links[at];
  return link === undefined ? false : walkChain(link, links.slice(at + 1), 1).valid;
}

function tooManyToExport(count: number, max: number): DomainError {
  return new DomainError(
    'validation_error',
    `The subject has ${count} snapshots; one JSON export holds at most ${max}. Ask with Accept: application/x-ndjson, which streams any number, or read the history in pages.`,
    [{ path: '/path/subject_id', message: `has more than ${max} snapshots`, code: 'too_large' }],
  );
}
