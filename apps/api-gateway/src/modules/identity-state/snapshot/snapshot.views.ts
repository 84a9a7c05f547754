import { canonicalize, isJsonObject, type JsonValue, parseStoredJson, type Verification } from '@iss/domain';
import type { SnapshotRecord, SnapshotTarget } from '@iss/persistence';
import { snapshotHeaderView } from '../../../http/answer/snapshot-header.view';
import { JsonText } from '../../../http/answer/json-text';
import { SnapshotProof } from './snapshot.openapi';

export const VIEWS = ['full', 'header'] as const;
export type View = (typeof VIEWS)[number];

type Reuse = 'immutable' | 'revalidate';
/** A snapshot never changes; which one is the latest does. */
export const REUSE: Record<SnapshotTarget['kind'], Reuse> = {
  latest: 'revalidate',
  version: 'immutable',
  id: 'immutable',
};
const CACHE_CONTROL: Record<Reuse, string> = { immutable: 'private, immutable', revalidate: 'private, no-cache' };

/** A snapshot as JSON text: the header, then the stored envelope as it stands (specification, "Snapshot header"). */
export function snapshotText(snapshot: SnapshotRecord, view: View, verification?: Verification): string {
  const header = JSON.stringify(snapshotHeaderView(snapshot));
  const envelope = view === 'full' && snapshot.envelope !== null ? `,"envelope":${snapshot.envelope}` : '';
  return `${header.slice(0, -1)}${envelope}${verificationText(verification)}}`;
}

/** The answer to a read of one snapshot. */
export function snapshotAnswer(
  snapshot: SnapshotRecord,
  view: View,
  reuse: Reuse,
  verification?: Verification,
): JsonText {
  return answer(snapshotText(snapshot, view, verification), snapshot, view, reuse, verification);
}

/** The current state of a subject, from its latest snapshot (specification, "Snapshot reads"). */
export function summaryAnswer(snapshot: SnapshotRecord, verification?: Verification): JsonText {
  const envelope = parseStoredJson(snapshot.envelope ?? '');
  const header = snapshotHeaderView(snapshot);
  const { snapshot_id, snapshot_version, generated_at, envelope_hash: hash, prev_hash } = header;
  const [attributes, evidence, paths, audit] = ['attributes', 'evidence', 'attribute_paths', 'audit'].map((name) =>
    isJsonObject(envelope) ? envelope[name] : undefined,
  );
  const head = JSON.stringify({
    subject: header.subject,
    current_snapshot: { snapshot_id, snapshot_version, generated_at, hash, prev_hash },
    provenance: {
      evidence_count: Array.isArray(evidence) ? evidence.length : 0,
      has_attribute_paths: hasMembers(paths),
      has_audit: hasMembers(audit),
    },
  });
  // What is canonical in the envelope is so by itself: the very text that was hashed.
  const identity = `,"identity":${canonicalize(attributes ?? {})}`;
  const text = `${head.slice(0, -1)}${identity}${verificationText(verification)}}`;
  return answer(text, snapshot, 'summary', 'revalidate', verification);
}

/** What proves a snapshot without its content (specification, "Snapshot reads"). */
export function proofAnswer(snapshot: SnapshotRecord): JsonText {
  return answer(JSON.stringify(SnapshotProof.of(snapshot)), snapshot, 'proof', 'immutable');
}

/**
 * Tagged by hash and view. Not so what was verified, which must be done anew each time, and what was imported without its
 * hashes, which it may yet get.
 */
function answer(
  text: string,
  snapshot: SnapshotRecord,
  view: View | 'summary' | 'proof',
  reuse: Reuse,
  verification?: Verification,
): JsonText {
  const isSealed = snapshot.envelopeHash !== null && (snapshot.prevHash !== null || snapshot.snapshotVersion === 1);
  if (verification !== undefined || !isSealed) return new JsonText(text);
  return new JsonText(text, { etag: `"${snapshot.envelopeHash}.${view}"`, cacheControl: CACHE_CONTROL[reuse] });
}

function verificationText(verification: Verification | undefined): string {
  return verification === undefined ? '' : `,"verification":${JSON.stringify(verification)}`;
}

function hasMembers(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && Object.keys(value).length > 0;
}
