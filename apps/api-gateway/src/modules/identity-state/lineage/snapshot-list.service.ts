import {
  allValid,
  type CheckedLink,
  type DisclosureWay,
  DomainError,
  type Reader,
  RULES,
  type SubjectRef,
  type Visible,
  walkChain,
} from '@iss/domain';
import {
  type AsOf,
  type LineageOrder,
  type LineageRange,
  type LineageRead,
  openSnapshot,
  type Page,
  type PageRequest,
  type PagePosition,
  SnapshotListStore,
  type SnapshotRecord,
  type SnapshotRow,
  type SubjectDisclosure,
  type TimeWindow,
  toPage,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { Disclosures, type VersionRange } from '../../../access/disclosures';
import { notFound, ReadAccess } from '../../../access/read-access';
import type { Asker } from '../../../runtime/asker';
import {
  openingFor,
  SnapshotVerifier,
  type VerifiedSnapshot,
  type Verify,
  type VerifyOptions,
} from '../snapshot/snapshot-verifier';
import { type ShownSnapshot, ShownSnapshots } from '../snapshot/shown-snapshots';
import { VersionTimeService } from '../snapshot/version-time.service';

export interface LineageRequest extends PageRequest {
  order: LineageOrder;
}

export interface HistoryRequest extends LineageRequest, VerifyOptions {
  withEnvelopes: boolean;
  /** Null: the whole history. */
  window: TimeWindow | null;
}

/** A page whose items are read when they are taken. */
export interface HistoryPage {
  items: AsyncIterable<VerifiedSnapshot>;
  next: PagePosition | null;
}

/** Snapshots in the batches in which they were read. */
export type SnapshotBatches = AsyncIterable<readonly ShownSnapshot[]>;

/** Every snapshot up to the newest one, or up to the newest one at a moment. */
export interface WholeLineage {
  headVersion: number;
  batches: SnapshotBatches;
}

/** A snapshot's header, and whether its hash and the link to its parent are valid. */
export interface CheckedHeader {
  snapshot: SnapshotRecord;
  chainValid: boolean | null;
}

export interface ChainPage extends Page<CheckedHeader> {
  /** True if the links of all items of the page are valid. Null if that of an item is unknown. */
  chainValid: boolean | null;
  /** True if the items are all versions from 1 to the newest. */
  isComplete: boolean;
}

/** Returns the next snapshots after a version, in order, as many as fit into memory limits. */
type More = (after: number) => Promise<readonly SnapshotRecord[]>;

/** A page of snapshots, with the newest version of the subject. */
interface SnapshotPage extends Page<SnapshotRecord> {
  headVersion: number;
  visible: Visible;
  /** Reads the next items with envelopes, if not all envelopes of the page fitted. */
  more: More;
}

/** How the snapshots of a page are shown. */
interface Showing {
  withEnvelopes: boolean;
  via: DisclosureWay;
  open: typeof openSnapshot;
}

/** Snapshots per statement. All their headers are read, even if only few envelopes fit. */
const BATCH_ROWS = 256;

/** Reads a subject's lineage, tenant-scoped or global: history, chain proof, export. */
@Injectable()
export class SnapshotListService {
  constructor(
    private readonly lineage: SnapshotListStore,
    private readonly access: ReadAccess,
    private readonly disclosures: Disclosures,
    private readonly verifier: SnapshotVerifier,
    private readonly shown: ShownSnapshots,
    private readonly times: VersionTimeService,
  ) {}

  async history(reader: Reader & Asker, subject: SubjectRef, request: HistoryRequest): Promise<HistoryPage> {
    const via = request.withEnvelopes ? 'history' : 'headers';
    const { window } = request;
    const read = (withEnvelopes: boolean, open: typeof openSnapshot): Promise<SnapshotPage> =>
      window === null
        ? this.page(reader, subject, request, { withEnvelopes, via, open })
        : this.pageWithin(reader, subject, window, request, { withEnvelopes, via, open });
    let withEnvelopes = request.withEnvelopes || request.verify !== 'none';
    let page = await read(withEnvelopes, openingFor(request, request.withEnvelopes));
    const { visible } = page;
    if (visible !== null) {
      // The contents say which versions look changed to the reader. A view can only be made of an intact text.
      withEnvelopes = true;
      page = await read(withEnvelopes, openSnapshot);
    }
    const verify = await this.verifier.prepare(reader, subject, rangeOf(page.items), request);
    const batches = withEnvelopes ? walk(page.items, page.more) : [page.items];
    return { items: verified(this.shown.showAll(reader, batches, visible), verify), next: page.next };
  }

  /** Recomputes the links, as `verify=chain` with a depth of 1 does for each item. */
  async chainProof(reader: Reader & Asker, subject: SubjectRef, request: LineageRequest): Promise<ChainPage> {
    const page = await this.page(reader, subject, request, { withEnvelopes: false, via: 'proof', open: openSnapshot });
    const { newest, oldest } = rangeOf(page.items);
    const links = await this.verifier.links(reader, subject, newest + 1, newest - oldest + 2);
    const items = page.items.map((snapshot) => ({ snapshot, chainValid: chainHolds(snapshot.snapshotVersion, links) }));
    const chainValid = allValid(items.map((item) => item.chainValid));
    return { items, next: page.next, chainValid, isComplete: oldest === 1 && newest === page.headVersion };
  }

  /** Returns the newest version. Throws like {@link export}. */
  async headVersion(reader: Reader, subject: SubjectRef): Promise<number> {
    const newest = { order: 'desc', after: null, limit: 1, withEnvelopes: false } as const;
    return (await this.read(reader, subject, newest)).headVersion;
  }

  /**
   * Returns every snapshot up to the newest one, or up to the version `last`, ascending. They are recorded as disclosed
   * first, and then read as they are taken. Throws `validation_error` for more than `maxSnapshots`; null: no maximum.
   */
  async export(
    reader: Reader & Asker,
    subject: SubjectRef,
    maxSnapshots: number | null,
    via: 'export' | 'bundle' = 'export',
    last = Infinity,
  ): Promise<WholeLineage> {
    const range = { order: 'asc', after: null, limit: Math.min(BATCH_ROWS, last), withEnvelopes: true } as const;
    const { disclosure, headVersion: newest, snapshots, visible } = await this.read(reader, subject, range);
    const headVersion = Math.min(newest, last);
    if (maxSnapshots !== null && headVersion > maxSnapshots) throw tooManyToExport(headVersion, maxSnapshots);
    await this.disclosures.record(reader, disclosure, { from: 1, to: headVersion }, via);
    const first = reader.measured(() => snapshots.map(openSnapshot));
    const whole = walk(first, this.moreTo(reader, subject, 'asc', headVersion, openSnapshot));
    return { headVersion, batches: this.shown.showAll(reader, whole, visible) };
  }

  /** Exports up to the version that was the newest at a moment; null: up to the newest version. */
  async exportAsOf(
    reader: Reader & Asker,
    subject: SubjectRef,
    maxSnapshots: number | null,
    asOf: AsOf | null,
  ): Promise<WholeLineage> {
    if (asOf === null) return this.export(reader, subject, maxSnapshots);
    const { version } = await this.times.asOf(reader, subject, asOf, () => RULES.readLineage);
    return this.export(reader, subject, maxSnapshots, 'export', version);
  }

  private async page(
    reader: Reader & Asker,
    subject: SubjectRef,
    { order, limit, after }: LineageRequest,
    { withEnvelopes, via, open }: Showing,
  ): Promise<SnapshotPage> {
    const range = { order, after: versionOf(after), limit: limit + 1, withEnvelopes };
    const { headVersion, ...read } = await this.read(reader, subject, range);
    const page = pageOf(read, limit);
    await this.disclose(reader, read.disclosure, page.items, via);
    const last = page.items.at(-1)?.snapshotVersion ?? 0;
    const more = this.moreTo(reader, subject, order, last, open);
    return { ...page, items: reader.measured(() => page.items.map(open)), headVersion, visible: read.visible, more };
  }

  /** Returns a page of the versions in a time window. Finds their numbers first. */
  private async pageWithin(
    reader: Reader & Asker,
    subject: SubjectRef,
    window: TimeWindow,
    { order, limit, after }: LineageRequest,
    { withEnvelopes, via, open }: Showing,
  ): Promise<SnapshotPage> {
    const range = { order, after: versionOf(after), limit: limit + 1 };
    const { headVersion, versions } = await this.times.within(reader, subject, window, range);
    const listed = async (from: number): Promise<LineageRead & { visible: Visible }> => {
      const list = { versions: versions.slice(from), withEnvelopes };
      const read = await this.lineage.listed(reader, subject, list);
      return { ...read, visible: this.access.require(reader, read.facts, RULES.readLineage) };
    };
    if (versions.length === 0) return { items: [], next: null, headVersion, visible: null, more: async () => [] };
    const read = await listed(0);
    const { visible } = read;
    const page = pageOf(read, limit);
    await this.disclose(reader, read.disclosure, page.items, via);
    const last = page.items.length;
    const more: More = async (version) => {
      const from = versions.indexOf(version) + 1;
      if (from >= last) return [];
      const { snapshots } = await listed(from);
      return reader.measured(() => snapshots.slice(0, last - from).map(open));
    };
    return { ...page, items: reader.measured(() => page.items.map(open)), headVersion, visible, more };
  }

  /** Records each run of consecutive versions separately, because nothing is shown of those in between. */
  private async disclose(
    reader: Reader & Asker,
    disclosure: SubjectDisclosure | null,
    snapshots: readonly SnapshotRow[],
    via: DisclosureWay,
  ): Promise<void> {
    if (disclosure === null) return;
    for (const run of runsOf(snapshots)) await this.disclosures.record(reader, disclosure, run, via);
  }

  /** Runs one statement and decides whether the reader may see its result. */
  private async read(
    reader: Reader,
    subject: SubjectRef,
    range: LineageRange,
  ): Promise<LineageRead & { headVersion: number; visible: Visible }> {
    const { headVersion, ...read } = await this.lineage.read(reader, subject, range);
    const visible = this.access.require(reader, read.facts, RULES.readLineage);
    if (headVersion === null) throw notFound();
    return { ...read, headVersion, visible };
  }

  /**
   * Returns a function that reads on, up to the version `last`. Each statement checks access again, so that a
   * revocation ends a running read.
   */
  private moreTo(
    reader: Reader & Asker,
    subject: SubjectRef,
    order: LineageOrder,
    last: number,
    open: typeof openSnapshot,
  ): More {
    return async (after) => {
      const limit = Math.min(Math.abs(last - after), BATCH_ROWS);
      if (limit === 0) return [];
      const { snapshots } = await this.read(reader, subject, { order, after, limit, withEnvelopes: true });
      return reader.measured(() => snapshots.map(open));
    };
  }
}

/**
 * Yields snapshots with their envelopes, or without them if they were erased. If an envelope did not fit into a read,
 * the next statement starts there.
 */
async function* walk(first: readonly SnapshotRecord[], more: More): AsyncGenerator<readonly SnapshotRecord[], void> {
  let batch = first;
  while (batch.length > 0) {
    const end = batch.findIndex(({ envelope, erasure }) => envelope === null && erasure === null);
    const whole = end < 0 ? batch : batch.slice(0, end);
    const last = whole.at(-1);
    // The next batch is read while the consumer writes this one.
    const next = last === undefined ? [] : more(last.snapshotVersion);
    if (next instanceof Promise) next.catch(() => undefined);
    yield whole;
    batch = await next;
  }
}

async function* verified(batches: SnapshotBatches, verify: Verify): AsyncGenerator<VerifiedSnapshot, void> {
  for await (const batch of batches) {
    for (const snapshot of batch) {
      yield { snapshot, verification: await verify(snapshot.partial?.whole ?? snapshot) };
    }
  }
}

function versionOf(after: PagePosition | null): number | null {
  const [version] = after ?? [];
  return version === undefined ? null : Number(version);
}

function pageOf({ snapshots, found }: Pick<LineageRead, 'snapshots' | 'found'>, limit: number): Page<SnapshotRow> {
  return toPage(
    snapshots,
    limit,
    (snapshot) => snapshot,
    ({ snapshotVersion }) => [snapshotVersion],
    found,
  );
}

function runsOf(snapshots: readonly SnapshotRow[]): VersionRange[] {
  const versions = snapshots.map(({ snapshotVersion }) => snapshotVersion).sort((a, b) => a - b);
  const runs: VersionRange[] = [];
  for (const version of versions) {
    const run = runs.at(-1);
    if (run?.to === version - 1) run.to = version;
    else runs.push({ from: version, to: version });
  }
  return runs;
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
    `The subject has ${count} snapshots, but a JSON export holds at most ${max}. Send Accept: ` +
      'application/x-ndjson to stream any number, or read the history in pages.',
    [{ path: '/path/subject_id', message: `has more than ${max} snapshots`, code: 'too_large' }],
  );
}
