import { CANONICALIZATION_METHOD, HASH_ALGORITHM, type SubjectRef } from '@iss/domain';
import type { SnapshotRecord } from '@iss/persistence';
import { jsonStream, TextStream } from '../../../http/answer/json-text';
import type { PageView } from '../../../http/lists/paging';
import { snapshotHeaderView } from '../../../http/answer/snapshot-header.view';
import type { ChainItem } from './snapshot-list.service';
import type { VerifiedSnapshot } from '../snapshot/snapshot-verifier';
import { snapshotText, type View } from '../snapshot/snapshot.views';

/** The items of a history as JSON texts. */
export async function* historyTexts(items: AsyncIterable<VerifiedSnapshot>, view: View): AsyncGenerator<string, void> {
  for await (const { snapshot, verification } of items) yield snapshotText(snapshot, view, verification);
}

export interface ChainItemView {
  snapshot_id: string;
  snapshot_version: number;
  envelope_hash: string | null;
  prev_hash: string | null;
  chain_valid: boolean | null;
  generated_at: string;
}

export function chainItemView({ snapshot, chainValid }: ChainItem): ChainItemView {
  const { snapshot_id, snapshot_version, envelope_hash, prev_hash, generated_at } = snapshotHeaderView(snapshot);
  return { snapshot_id, snapshot_version, envelope_hash, prev_hash, chain_valid: chainValid, generated_at };
}

export interface ChainProofView extends PageView {
  subject_type: string;
  subject_id: string;
  chain_valid: boolean | null;
  items: ChainItemView[];
  chain: ChainItemView[];
}

/** A chain proof in both shapes of the specification: `items` with `page`, and `chain` with `chain_valid`. */
export function chainProofView(
  { subjectType, subjectId }: SubjectRef,
  chainValid: boolean | null,
  page: { items: ChainItemView[] } & PageView,
): ChainProofView {
  return { subject_type: subjectType, subject_id: subjectId, chain_valid: chainValid, chain: page.items, ...page };
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
