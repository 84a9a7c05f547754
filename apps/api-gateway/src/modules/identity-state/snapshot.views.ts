import type { Verification } from '@iss/domain';
import type { SnapshotRecord } from '@iss/persistence';
import { snapshotHeaderView } from '../../http/snapshot-header.view';
import { JsonText } from '../../http/json-text';

export const VIEWS = ['full', 'header'] as const;
export type View = (typeof VIEWS)[number];

const IMMUTABLE = 'private, immutable';
const REVALIDATE = 'private, no-cache';

/** A snapshot as JSON text: the header, then the stored envelope as it stands (specification, "Snapshot header"). */
export function snapshotText(snapshot: SnapshotRecord, view: View, verification?: Verification): string {
  const header = JSON.stringify(snapshotHeaderView(snapshot));
  const envelope = view === 'full' && snapshot.envelope !== null ? `,"envelope":${snapshot.envelope}` : '';
  const proof = verification === undefined ? '' : `,"verification":${JSON.stringify(verification)}`;
  return `${header.slice(0, -1)}${envelope}${proof}}`;
}

/** The answer to a read: tagged by hash and view unless it was verified, which must be done anew each time. */
export function snapshotAnswer(
  snapshot: SnapshotRecord,
  view: View,
  reuse: 'immutable' | 'revalidate',
  verification?: Verification,
): JsonText {
  const text = snapshotText(snapshot, view, verification);
  if (verification !== undefined || snapshot.envelopeHash === null) return new JsonText(text);
  return new JsonText(text, {
    etag: `"${snapshot.envelopeHash}.${view}"`,
    cacheControl: reuse === 'immutable' ? IMMUTABLE : REVALIDATE,
  });
}
