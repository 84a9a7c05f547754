import { isJsonObject, type JsonObject, type JsonValue } from '@iss/domain/pure';
import type { BundleLine } from '@iss/proof';
import { decode, parseAnswer } from './http/answer.ts';
import { pageLike, pagesOf } from './http/pages.ts';
import { requireLike } from './http/shape.ts';
import type { CallOptions, Transport } from './http/transport.ts';
import { timeText } from './json.ts';
import type { ReadOptions } from './versions/read.ts';
import { HEADER, VERSION } from './shapes.ts';
import type { SnapshotHeader, SubjectType, Version } from './types.ts';
import { gap } from './verify/gap.ts';
import { BUNDLE_LINE } from './verify/log.ts';
import { usesLog, type AnswerVerifier } from './verify/verifier.ts';

export interface HistoryOptions extends ReadOptions {
  /** Defaults to `desc`: newest version first. */
  order?: 'asc' | 'desc' | undefined;
  /** Only versions that were the latest at some time between `from` and `to`. */
  from?: Date | string | undefined;
  to?: Date | string | undefined;
  basis?: 'recorded' | 'effective' | undefined;
}

/** @internal The subject to read, and the tenant that reads. */
export interface Lineage {
  readonly transport: Transport;
  readonly verifier: AnswerVerifier;
  readonly tenantId: string;
  /** The path of the subject. */
  readonly path: string;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
}

/** The first line of a bundle. */
interface BundleHead {
  bundle: string;
  checkpoint: string;
  versions: number;
}
const BUNDLE_HEAD = { bundle: '', checkpoint: '', versions: 0 } as const;

const STRICT_PAGE = pageLike<JsonValue>(VERSION);

/** Versions per page. The page size is small, because a version with content can have a megabyte. */
const FULL_PAGE = 20;
const HEADER_PAGE = 200;

/** @internal Yields verified versions with their content. @throws VerificationError `gap` if one is missing */
export async function* historyOf<A>(
  lineage: Lineage,
  { verify, order = 'desc', from, to, basis, ...options }: HistoryOptions,
): AsyncGenerator<Version<A>, void, undefined> {
  const { transport, verifier, tenantId, path, ...asked } = lineage;
  const mode = verifier.modeOf(verify);
  const query = { view: 'full', order, limit: FULL_PAGE, from: timeText(from), to: timeText(to), basis };
  const isWhole = from === undefined && to === undefined;
  const sequence = new Sequence(
    asked.subjectId,
    order,
    isWhole ? verifier.known.headOf(asked.subjectType, asked.subjectId) : 0,
  );
  for await (const { items } of pagesOf(transport, `${path}/history`, query, options, STRICT_PAGE)) {
    const verify = (item: JsonValue): Promise<Version<A>> => verifier.version<A>(tenantId, item, asked, mode, options);
    // The proofs of a page are requested in parallel, and its results are yielded in order.
    const proved = mode === 'log' ? await Promise.all(items.map(verify)) : [];
    for (const [at, item] of items.entries()) {
      const version = proved[at] ?? (await verify(item));
      if (mode !== false && isWhole) sequence.next(version.snapshot_version);
      yield version;
    }
  }
  if (mode !== false && isWhole) sequence.end();
}

/** @internal Yields versions without content. They must be consistent with seen versions. */
export async function* headersOf(
  { transport, verifier, path, subjectType, subjectId }: Lineage,
  { verify, order = 'desc', from, to, basis, ...options }: HistoryOptions,
): AsyncGenerator<SnapshotHeader, void, undefined> {
  const mode = verifier.modeOf(verify);
  const query = { view: 'header', order, limit: HEADER_PAGE, from: timeText(from), to: timeText(to), basis };
  for await (const { items } of pagesOf(
    transport,
    `${path}/history`,
    query,
    options,
    pageLike<SnapshotHeader>(HEADER),
  )) {
    for (const header of items) {
      if (mode !== false) verifier.claim(header, { subject_type: subjectType, subject_id: subjectId });
      yield header;
    }
  }
}

/** @internal Streams the whole history, oldest first. With `log`, it uses a bundle that proves all versions against one checkpoint. */
export async function* exportOf<A>(
  { transport, verifier, tenantId, path, ...asked }: Lineage,
  { verify, ...options }: ReadOptions,
): AsyncGenerator<Version<A>, void, undefined> {
  const mode = verifier.modeOf(verify, true);
  const isBundle = usesLog(mode);
  const floors = isBundle ? await verifier.floors() : null;
  const sequence = new Sequence(asked.subjectId, 'asc', verifier.known.headOf(asked.subjectType, asked.subjectId));
  let bundle: (BundleHead & { prove: Awaited<ReturnType<AnswerVerifier['bundle']>> }) | null = null;
  let versions = 0;
  let last: BundleLine | null = null;
  /** The claim in the last line of a bundle with a map. */
  let end: JsonObject | undefined;
  for await (const line of exportedLines(transport, path, isBundle ? 'log' : undefined, options)) {
    if (floors !== null && bundle === null) {
      const head = decode<BundleHead>(line, BUNDLE_HEAD);
      bundle = { ...head, prove: await verifier.bundle(head.checkpoint, floors, options) };
      continue;
    }
    const value = parseAnswer(line);
    if (bundle !== null && isJsonObject(value) && isJsonObject(value['complete'])) {
      end = value['complete'];
      continue;
    }
    const snapshot = bundle === null || !isJsonObject(value) ? value : value['snapshot'];
    const version = await verifier.version<A>(tenantId, snapshot, asked, isBundle ? 'hash' : mode, options);
    if (mode !== false) sequence.next(version.snapshot_version);
    if (bundle !== null) {
      const proved: unknown = value;
      requireLike<BundleLine>(proved, BUNDLE_LINE);
      await bundle.prove(version, proved);
      last = proved;
    }
    versions++;
    yield version;
  }
  if (mode !== false) sequence.end();
  if (bundle === null || last === null) return;
  if (bundle.versions !== versions) throw gap(asked.subjectId, versions, bundle.versions);
  const needsEnd = mode === 'complete' || bundle.bundle !== 'iss_bundle_v1';
  if (needsEnd && end === undefined) throw gap(asked.subjectId, versions, 'its end');
  if (mode !== 'complete') return;
  const { log_index: last_log_index, keys = null } = last;
  const { subjectType: subject_type, subjectId: subject_id } = asked;
  const { checkpoint } = bundle;
  const ends = { subject_type, subject_id, checkpoint, snapshot_version: versions, last_log_index, keys };
  await verifier.requireLog().requireNewest({ ...end, ...ends });
}

/** @internal Streams the unverified lines of a bundle. */
export async function* bundleLinesOf(
  { transport, path }: Lineage,
  options: CallOptions,
): AsyncGenerator<string, void, undefined> {
  yield* exportedLines(transport, path, 'log', options);
}

async function* exportedLines(
  transport: Transport,
  path: string,
  proofs: 'log' | undefined,
  options: CallOptions,
): AsyncGenerator<string, void, undefined> {
  const request = { method: 'GET', path: `${path}/export`, query: { proofs }, accept: 'application/x-ndjson' } as const;
  for await (const line of transport.lines(request, options)) if (line !== '') yield line;
}

/** Detects missing versions, also at both ends. */
class Sequence {
  private last: number | null = null;

  constructor(
    private readonly subjectId: string,
    private readonly order: 'asc' | 'desc',
    /** The newest version seen before. */
    private readonly head: number,
  ) {}

  next(version: number): void {
    const { last, order, head } = this;
    const isFirst = last === null;
    const expected = isFirst ? 1 : last + (order === 'asc' ? 1 : -1);
    const fits = isFirst && order === 'desc' ? version >= head : version === expected;
    if (!fits) throw gap(this.subjectId, last ?? 'the beginning', version);
    this.last = version;
  }

  end(): void {
    const isComplete = this.order === 'desc' ? this.last === 1 : this.last !== null && this.last >= this.head;
    if (!isComplete) throw gap(this.subjectId, this.last ?? 'the beginning', 'its end');
  }
}
