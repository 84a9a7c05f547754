import { isJsonObject, type JsonValue } from '@iss/domain/pure';
import { ProtocolError, VerificationError } from './errors.ts';
import { linesOf } from './http/lines.ts';
import { type Page, pagesOf } from './http/pages.ts';
import type { CallOptions, Query, Transport } from './http/transport.ts';
import type { ReadOptions } from './read.ts';
import type { SnapshotHeader, SubjectType, Version } from './types.ts';
import type { BundleProof } from './verify/log.ts';
import { parseStrictly } from './verify/snapshot.ts';
import type { Verifier } from './verify/verifier.ts';

export interface HistoryOptions extends ReadOptions {
  /** `desc` unless said otherwise: the newest version first. */
  order?: 'asc' | 'desc' | undefined;
  /** What was the latest between two moments. */
  from?: Date | string | undefined;
  to?: Date | string | undefined;
  basis?: 'recorded' | 'effective' | undefined;
}

/** @internal whose versions are read, and by whom */
export interface Lineage {
  readonly transport: Transport;
  readonly verifier: Verifier;
  readonly tenantId: string;
  /** Of the subject. */
  readonly path: string;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
}

/** Versions of a page: a full one may be a megabyte. */
const FULL_PAGE = 20;
const HEADER_PAGE = 200;

/** @internal the versions with their content, verified one by one; none is left out between unnoticed. */
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
  for await (const { items } of pagesOf(transport, `${path}/history`, query, options, strictPage)) {
    for (const item of items) {
      const version = await verifier.version<A>(tenantId, item, asked, mode, options);
      if (mode !== false && isWhole) sequence.next(version.snapshot_version);
      yield version;
    }
  }
  if (mode !== false && isWhole) sequence.end();
}

/** @internal the versions without their content: what the service claims, which must fit what was seen. */
export async function* headersOf(
  { transport, verifier, path, subjectType, subjectId }: Lineage,
  { verify, order = 'desc', from, to, basis, ...options }: HistoryOptions,
): AsyncGenerator<SnapshotHeader, void, undefined> {
  const mode = verifier.modeOf(verify);
  const query = { view: 'header', order, limit: HEADER_PAGE, from: timeText(from), to: timeText(to), basis };
  for await (const { items } of pagesOf<SnapshotHeader>(transport, `${path}/history`, query, options)) {
    for (const header of items) {
      if (mode !== false) verifier.claim(header, { subject_type: subjectType, subject_id: subjectId });
      yield header;
    }
  }
}

/** @internal the whole history in one stream, ascending; with the mode `log` as a bundle that proves each version against one checkpoint. */
export async function* exportOf<A>(
  { transport, verifier, tenantId, path, ...asked }: Lineage,
  { verify, ...options }: ReadOptions,
): AsyncGenerator<Version<A>, void, undefined> {
  const mode = verifier.modeOf(verify);
  const isBundle = mode === 'log';
  const query: Query = isBundle ? { proofs: 'log' } : {};
  const request = { method: 'GET', path: `${path}/export`, query, accept: 'application/x-ndjson' } as const;
  const floors = isBundle ? await verifier.floors() : null;
  const response = await transport.stream(request, options);
  const sequence = new Sequence(asked.subjectId, 'asc', verifier.known.headOf(asked.subjectType, asked.subjectId));
  let bundle: { prove: BundleProof; versions: number } | null = null;
  let versions = 0;
  for await (const line of linesOf(response, { signal: options.signal })) {
    if (line === '') continue;
    const value = parseStrictly(line);
    if (floors !== null && bundle === null) {
      const head = bundleHead(value);
      bundle = { prove: await verifier.bundle(head.checkpoint, floors, options), versions: head.versions };
      continue;
    }
    const snapshot = bundle === null ? value : memberOf(value, 'snapshot');
    const version = await verifier.version<A>(tenantId, snapshot, asked, isBundle ? 'hash' : mode, options);
    if (mode !== false) sequence.next(version.snapshot_version);
    if (bundle !== null) bundle.prove(version, value);
    versions++;
    yield version;
  }
  if (mode !== false) sequence.end();
  if (bundle !== null && bundle.versions !== versions) {
    throw new VerificationError('gap', `The bundle says ${bundle.versions} versions, and ${versions} are there.`);
  }
}

/** @internal the lines of a bundle, as they came: for whoever keeps them, or verifies them as a whole. */
export async function* bundleLinesOf(
  { transport, path }: Lineage,
  options: CallOptions,
): AsyncGenerator<string, void, undefined> {
  const request = {
    method: 'GET',
    path: `${path}/export`,
    query: { proofs: 'log' },
    accept: 'application/x-ndjson',
  } as const;
  const response = await transport.stream(request, options);
  for await (const line of linesOf(response, { signal: options.signal })) if (line !== '') yield line;
}

function bundleHead(value: JsonValue): { checkpoint: string; versions: number } {
  const checkpoint = memberOf(value, 'checkpoint');
  const versions = memberOf(value, 'versions');
  if (memberOf(value, 'bundle') === 'iss_bundle_v1' && typeof checkpoint === 'string' && typeof versions === 'number') {
    return { checkpoint, versions };
  }
  throw new ProtocolError('The answer is no bundle of a format that is known here.');
}

/** Notices what is left out between versions, and at both ends. */
class Sequence {
  private last: number | null = null;

  constructor(
    private readonly subjectId: string,
    private readonly order: 'asc' | 'desc',
    /** The newest version that was seen before. */
    private readonly head: number,
  ) {}

  next(version: number): void {
    const { last, order, head } = this;
    const isFirst = last === null;
    const expected = isFirst ? 1 : last + (order === 'asc' ? 1 : -1);
    const fits = isFirst && order === 'desc' ? version >= head : version === expected;
    if (!fits) throw this.gap(`${last ?? 'the beginning'} to ${version}`);
    this.last = version;
  }

  end(): void {
    const isComplete = this.order === 'desc' ? this.last === 1 : this.last !== null && this.last >= this.head;
    if (!isComplete) throw this.gap(`${this.last ?? 'the beginning'} to its end`);
  }

  private gap(where: string): VerificationError {
    return new VerificationError('gap', `The history of ${this.subjectId} leaves out versions, from ${where}.`);
  }
}

function strictPage(text: string): Page<JsonValue> {
  const page = parseStrictly(text);
  const items = memberOf(page, 'items');
  if (!Array.isArray(items)) throw new ProtocolError('The answer is no page of a list.');
  const cursor = memberOf(page, 'next_cursor') ?? memberOf(memberOf(page, 'page'), 'next_cursor');
  return { items, next_cursor: typeof cursor === 'string' ? cursor : null };
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function timeText(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}
