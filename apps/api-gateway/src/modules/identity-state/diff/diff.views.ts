import { hashText } from '@iss/domain';
import { JsonText } from '../../../http/answer/json-text';
import { CACHE_CONTROL, partialText, type Reuse } from '../snapshot/snapshot.views';
import type { SnapshotDiff } from './diff.service';

/**
 * Returns the response to a diff (specification, "Diff result"). Between versions it also names the subject and the
 * versions, and thus unites both forms of the specification. Snapshots are immutable, so the text's hash is the ETag. A
 * verified diff has no ETag, because each request must verify again. `reuse` says whether a cache must revalidate,
 * which depends on how the snapshots were named.
 */
export function diffAnswer(diff: SnapshotDiff, between: 'versions' | 'ids', reuse: Reuse): JsonText {
  const { from, to, attributionText, verification } = diff;
  const versions = {
    subject: { subject_type: to.subjectType, subject_id: to.subjectId },
    from_version: from.snapshotVersion,
    to_version: to.snapshotVersion,
  };
  const before = {
    ...(between === 'versions' ? versions : {}),
    format: 'rfc6902',
    from: { snapshot_id: from.snapshotId, snapshot_version: from.snapshotVersion },
    to: { snapshot_id: to.snapshotId, snapshot_version: to.snapshotVersion },
    change_kind: to.changeKind,
    include: diff.include,
  };
  const figures = JSON.stringify({ ops_hash: diff.opsHash, change_summary: diff.summary }).slice(1, -1);
  const attribution = attributionText === null ? '' : `,${attributionText}`;
  const verified = verification === undefined ? '' : `,"verification":${JSON.stringify(verification)}`;
  const more = `${attribution}${partialText(to.partial, false)}${verified}`;
  const text = `${JSON.stringify(before).slice(0, -1)},"ops":${diff.opsText},${figures}${more}}`;
  if (verification !== undefined) return new JsonText(text);
  return new JsonText(text, { etag: `"${hashText(text)}"`, cacheControl: CACHE_CONTROL[reuse] });
}
