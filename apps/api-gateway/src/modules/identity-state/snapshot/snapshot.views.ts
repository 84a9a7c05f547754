import { type EnvelopeSummary, hashText, type SnapshotVerification } from '@iss/domain';
import type { SnapshotRecord, SnapshotTarget } from '@iss/persistence';
import { SnapshotProof, type SnapshotView } from '@iss/contract';
import { snapshotHeaderView } from '../../../http/answer/snapshot-header.view';
import { type Caching, JsonText } from '../../../http/answer/json-text';
import type { PartialContent, ShownSnapshot } from './shown-snapshots';

export type Reuse = 'immutable' | 'revalidate';

/** A snapshot never changes, but the latest one may be replaced by a newer one. */
export const REUSE: Record<SnapshotTarget['kind'], Reuse> = {
  latest: 'revalidate',
  version: 'immutable',
  id: 'immutable',
};

export const CACHE_CONTROL: Record<Reuse, string> = {
  immutable: 'private, immutable',
  revalidate: 'private, no-cache',
};

/**
 * Returns a snapshot as JSON text: the header, then the stored envelope unchanged (specification, "Snapshot header").
 */
export function snapshotText(snapshot: ShownSnapshot, view: SnapshotView, verification?: SnapshotVerification): string {
  const isFull = view === 'full' && snapshot.envelope !== null;
  const envelope = isFull ? `,"envelope":${snapshot.envelope}` : '';
  return `${headerText(snapshot)}${envelope}${partialText(snapshot.partial, isFull)}${verificationText(verification)}}`;
}

/** Returns the response to a read of one snapshot. */
export function snapshotAnswer(
  snapshot: ShownSnapshot,
  view: SnapshotView,
  reuse: Reuse,
  verification?: SnapshotVerification,
): JsonText {
  const caching = cachingOf(snapshot, view, reuse, verification);
  const { envelope, envelopeHash: hash, partial } = snapshot;
  if (view === 'header' || envelope === null || hash === null || partial !== null) {
    return new JsonText(snapshotText(snapshot, view, verification), caching);
  }
  const before = `${headerText(snapshot)},"envelope":`;
  return JsonText.around(before, { text: envelope, hash }, `${verificationText(verification)}}`, caching);
}

/** Returns the current state of a subject, from its latest snapshot (specification, "Snapshot reads"). */
export function summaryAnswer(
  snapshot: ShownSnapshot,
  summary: EnvelopeSummary,
  verification?: SnapshotVerification,
): JsonText {
  const header = snapshotHeaderView(snapshot);
  const { snapshot_id, snapshot_version, generated_at, envelope_hash: hash, prev_hash } = header;
  const head = JSON.stringify({
    subject: header.subject,
    current_snapshot: { snapshot_id, snapshot_version, generated_at, hash, prev_hash },
    provenance: {
      evidence_count: summary.evidenceCount,
      has_attribute_paths: summary.hasAttributePaths,
      has_audit: summary.hasAudit,
    },
  });
  const more = `${partialText(snapshot.partial, false)}${verificationText(verification)}`;
  const text = `${head.slice(0, -1)},"identity":${summary.attributes}${more}}`;
  return new JsonText(text, cachingOf(snapshot, 'summary', 'revalidate', verification));
}

/** Returns the hashes of a snapshot without its content (specification, "Snapshot reads"). */
export function proofAnswer(snapshot: Omit<SnapshotRecord, 'envelope'>): JsonText {
  const text = JSON.stringify(SnapshotProof.of(snapshot));
  return new JsonText(text, cachingOf(snapshot, 'proof', 'immutable'));
}

/**
 * Returns caching headers with an ETag of hash, view and visible paths. Returns none for a verified response, which each request must
 * verify again; for a version imported without hashes, which may still get them; and for an erased one.
 */
function cachingOf(
  snapshot: Omit<SnapshotRecord, 'envelope'> & { partial?: PartialContent | null },
  view: SnapshotView | 'summary' | 'proof',
  reuse: Reuse,
  verification?: SnapshotVerification,
): Caching | undefined {
  const isSealed = snapshot.envelopeHash !== null && (snapshot.prevHash !== null || snapshot.snapshotVersion === 1);
  if (verification !== undefined || !isSealed || snapshot.erasure !== null) return undefined;
  const part = snapshot.partial ? `.${hashText(JSON.stringify(snapshot.partial.paths))}` : '';
  return { etag: `"${snapshot.envelopeHash}.${view}${part}"`, cacheControl: CACHE_CONTROL[reuse] };
}

/** Returns the header as JSON text without the closing brace. */
function headerText(snapshot: SnapshotRecord): string {
  return JSON.stringify(snapshotHeaderView(snapshot)).slice(0, -1);
}

/** Returns the members that say which part of a version is shown, and prove it; empty if everything is shown. */
export function partialText(partial: PartialContent | null, withView: boolean): string {
  if (partial === null) return '';
  const { paths, view, isChanged } = partial;
  const members = { partial: true, disclosed_paths: paths, ...(isChanged === undefined ? {} : { changed: isChanged }) };
  const text = `,${JSON.stringify(members).slice(1, -1)}`;
  if (!withView || view === null) return text;
  return `${text},"view":{"payload":${view.payload},"disclosures":${JSON.stringify(view.disclosures)}}`;
}

function verificationText(verification: SnapshotVerification | undefined): string {
  return verification === undefined ? '' : `,"verification":${JSON.stringify(verification)}`;
}
