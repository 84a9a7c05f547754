import { CANONICALIZATION_METHOD, HASH_ALGORITHM, type SubjectRef } from '@iss/domain';
import type { SnapshotRecord } from '@iss/persistence';
import { jsonStream, TextStream } from '../../../http/answer/json-text';
import type { PageView } from '../../../http/lists/paging';
import type { ChainProof } from './lineage.openapi';
import type { VerifiedSnapshot } from '../snapshot/snapshot-verifier';
import { snapshotText, type View } from '../snapshot/snapshot.views';

/** The items of a history as JSON texts. */
export async function* historyTexts(items: AsyncIterable<VerifiedSnapshot>, view: View): AsyncGenerator<string, void> {
  for await (const { snapshot, verification } of items) yield snapshotText(snapshot, view, verification);
}

/** A chain proof in both shapes of the specification. */
export function chainProofView(
  { subjectType, subjectId }: SubjectRef,
  { chainValid, isComplete }: { chainValid: boolean | null; isComplete: boolean },
  page: Pick<ChainProof, 'items'> & PageView,
): Omit<ChainProof, 'page'> & PageView {
  const verdicts = { chain_valid: chainValid, complete: isComplete };
  return { subject_type: subjectType, subject_id: subjectId, ...verdicts, chain: page.items, ...page };
}

/** A whole lineage as one JSON document. */
export function exportAnswer(subject: SubjectRef, snapshots: AsyncIterable<SnapshotRecord>): TextStream {
  const head = JSON.stringify({
    subject: { subject_type: subject.subjectType, subject_id: subject.subjectId },
    canonicalization_method: CANONICALIZATION_METHOD,
    hash_algorithm: HASH_ALGORITHM,
  });
  return jsonStream(`${head.slice(0, -1)},"snapshots":`, fullTexts(snapshots), '}');
}

/** A whole lineage as NDJSON: one full snapshot a line, and nothing else. */
export function exportLines(snapshots: AsyncIterable<SnapshotRecord>): TextStream {
  return new TextStream('application/x-ndjson', fullTexts(snapshots, '\n'));
}

async function* fullTexts(snapshots: AsyncIterable<SnapshotRecord>, end = ''): AsyncGenerator<string, void> {
  for await (const snapshot of snapshots) yield snapshotText(snapshot, 'full') + end;
}
