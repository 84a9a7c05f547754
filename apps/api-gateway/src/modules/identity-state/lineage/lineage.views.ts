import { CANONICALIZATION_METHOD, HASH_ALGORITHM, type SubjectRef } from '@iss/domain';
import type { SnapshotRecord } from '@iss/persistence';
import { encodeBase64, toHex } from '@iss/tlog';
import { jsonStream, TextStream } from '../../../http/answer/json-text';
import type { PageView } from '../../../http/lists/paging';
import type { ChainProof } from './lineage.openapi';
import type { Bundle, ProvedSnapshot } from './bundle.service';
import type { WholeLineage } from './snapshot-list.service';
import type { VerifiedSnapshot } from '../snapshot/snapshot-verifier';
import { snapshotText, type View } from '../snapshot/snapshot.views';

/** The form of a bundle; a later one is another name. */
const BUNDLE_FORMAT = 'iss_bundle_v1';

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
export function exportAnswer(subject: SubjectRef, { snapshots }: WholeLineage): TextStream {
  const head = JSON.stringify({
    subject: { subject_type: subject.subjectType, subject_id: subject.subjectId },
    canonicalization_method: CANONICALIZATION_METHOD,
    hash_algorithm: HASH_ALGORITHM,
  });
  return jsonStream(`${head.slice(0, -1)},"snapshots":`, fullTexts(snapshots), '}');
}

/** A whole lineage as NDJSON: one full snapshot a line, and nothing else. */
export function exportLines({ snapshots }: WholeLineage): TextStream {
  return new TextStream('application/x-ndjson', fullTexts(snapshots, '\n'));
}

/** A bundle as NDJSON: what it is and what it is proved against, then a line for each version with its proof. */
export function bundleLines({ subjectType, subjectId }: SubjectRef, bundle: Bundle): TextStream {
  const head = {
    bundle: BUNDLE_FORMAT,
    subject: { subject_type: subjectType, subject_id: subjectId },
    log_origin: bundle.origin,
    vkeys: bundle.keys.map(({ vkey }) => vkey),
    checkpoint: bundle.checkpoint,
    versions: bundle.headVersion,
    head_version: bundle.headVersion,
  };
  return new TextStream('application/x-ndjson', bundleTexts(JSON.stringify(head), bundle.snapshots));
}

async function* bundleTexts(head: string, snapshots: AsyncIterable<ProvedSnapshot>): AsyncGenerator<string, void> {
  yield `${head}\n`;
  for await (const { snapshot, logged, ...place } of snapshots) {
    const proof = JSON.stringify({
      ...('entry' in logged ? { entry: logged.entry } : {}),
      ...placeView(place),
      ...erasedView(logged),
    });
    yield `{"snapshot":${snapshotText(snapshot, 'full')},${proof.slice(1)}\n`;
  }
}

/** Of a version that was erased: its hash in the log, and the entry that says so with its own proof. */
function erasedView(logged: ProvedSnapshot['logged']): object {
  if ('entry' in logged) return {};
  const { leaf, erased } = logged;
  return { leaf_hash: toHex(leaf), erased: { entry: erased.entry, ...placeView(erased) } };
}

function placeView({ logIndex, inclusion }: Pick<ProvedSnapshot, 'logIndex' | 'inclusion'>): object {
  return { log_index: logIndex, inclusion: inclusion.map(encodeBase64) };
}

async function* fullTexts(snapshots: AsyncIterable<SnapshotRecord>, end = ''): AsyncGenerator<string, void> {
  for await (const snapshot of snapshots) yield snapshotText(snapshot, 'full') + end;
}
