import { BodsStatements, CANONICALIZATION_METHOD, HASH_ALGORITHM, type SubjectRef } from '@iss/domain';
import { encodeBase64url } from '@iss/map';
import { toHex } from '@iss/tlog';
import type { ChainProof, PageView, SnapshotView } from '@iss/contract';
import { jsonStream, textsOf, TextStream } from '../../../http/answer/json-text';
import { type Bundle, entryText, type KeyedEntry, type LoggedPlace, type ProvedSnapshot } from './bundle.service';
import type { SnapshotBatches, WholeLineage } from './snapshot-list.service';
import type { VerifiedSnapshot } from '../snapshot/snapshot-verifier';
import type { ShownSnapshot } from '../snapshot/shown-snapshots';
import { snapshotText } from '../snapshot/snapshot.views';

/**
 * The two formats of a bundle. In the second one, the last line proves that the bundle ends with the newest version.
 */
const BUNDLE_FORMAT = 'iss_bundle_v1';
const MAPPED_BUNDLE_FORMAT = 'iss_bundle_v2';

/** Yields the items of a history as JSON texts. */
export async function* historyTexts(
  items: AsyncIterable<VerifiedSnapshot>,
  view: SnapshotView,
): AsyncGenerator<Iterable<string>, void> {
  const textOf = ({ snapshot, verification }: VerifiedSnapshot): string => snapshotText(snapshot, view, verification);
  for await (const item of items) yield textsOf([item], textOf);
}

/** Returns a chain proof in both forms of the specification. */
export function chainProofView(
  { subjectType, subjectId }: SubjectRef,
  { chainValid, isComplete }: { chainValid: boolean | null; isComplete: boolean },
  page: Pick<ChainProof, 'items'> & PageView,
): Omit<ChainProof, 'page'> & PageView {
  const verdicts = { chain_valid: chainValid, complete: isComplete };
  return { subject_type: subjectType, subject_id: subjectId, ...verdicts, chain: page.items, ...page };
}

/** Returns a whole lineage as one JSON document. */
export function exportAnswer(subject: SubjectRef, { batches }: WholeLineage): TextStream {
  const head = JSON.stringify({
    subject: { subject_type: subject.subjectType, subject_id: subject.subjectId },
    canonicalization_method: CANONICALIZATION_METHOD,
    hash_algorithm: HASH_ALGORITHM,
  });
  return jsonStream(`${head.slice(0, -1)},"snapshots":`, fullTexts(batches), '}');
}

/** Returns a whole lineage as NDJSON: one full snapshot per line, and nothing else. */
export function exportLines({ batches }: WholeLineage): TextStream {
  return new TextStream('application/x-ndjson', fullTexts(batches, '\n'));
}

/**
 * Returns a whole lineage as statements of BODS 0.4: as one array, or one per line. Erased versions have no statements.
 */
export function bodsAnswer(subject: SubjectRef, { batches }: WholeLineage, asLines: boolean): TextStream {
  const texts = bodsTexts(subject, batches, asLines ? '\n' : '');
  return asLines ? new TextStream('application/x-ndjson', texts) : jsonStream('', texts, '');
}

async function* bodsTexts(
  subject: SubjectRef,
  batches: SnapshotBatches,
  end: string,
): AsyncGenerator<Iterable<string>> {
  const statements = new BodsStatements(subject);
  for await (const batch of batches) {
    for (const { envelope: text, ...version } of batch) {
      if (text !== null) yield textsOf(statements.next({ ...version, text }), (one) => JSON.stringify(one) + end);
    }
  }
}

/**
 * Returns a bundle as NDJSON. The first line describes the bundle and its checkpoint. Each further line is a version
 * with its proof. With a map, the last line proves that the last version is the newest.
 */
export function bundleLines({ subjectType, subjectId }: SubjectRef, bundle: Bundle): TextStream {
  const head = {
    bundle: bundle.complete === null ? BUNDLE_FORMAT : MAPPED_BUNDLE_FORMAT,
    subject: { subject_type: subjectType, subject_id: subjectId },
    log_origin: bundle.origin,
    vkeys: bundle.keys.map(({ vkey }) => vkey),
    checkpoint: bundle.checkpoint,
    versions: bundle.headVersion,
    head_version: bundle.headVersion,
  };
  return new TextStream('application/x-ndjson', bundleTexts(JSON.stringify(head), bundle));
}

async function* bundleTexts(
  head: string,
  { batches, complete, headVersion }: Bundle,
): AsyncGenerator<Iterable<string>, void> {
  yield [`${head}\n`];
  for await (const batch of batches) yield textsOf(batch, bundleLine);
  if (complete !== null) yield [`{"complete":{"snapshot_version":${headVersion},"map":${complete}}}\n`];
}

/**
 * Writes the line of a version. For an erased version, it has the leaf hash, and the erasure's entry with its proof.
 */
function bundleLine({ snapshot, logged, view, ...place }: ProvedSnapshot): string {
  const line = `{"snapshot":${snapshotText(snapshot, 'full')}`;
  if ('entry' in logged) {
    const ofView = view === null ? '' : `,"view":{${entryMembers(view)},${placeMembers(view)}}`;
    return `${line},${entryMembers(logged)},${placeMembers(place)}${ofView}}\n`;
  }
  const { leaf, erased } = logged;
  const erasure =
    'entry' in erased ? `{${entryMembers(erased)},${placeMembers(erased)}}` : `{"log_index":${erased.logIndex}}`;
  return `${line},${placeMembers(place)},"leaf_hash":"${toHex(leaf)}","erased":${erasure}}\n`;
}

function entryMembers(keyed: KeyedEntry): string {
  const { keys } = keyed;
  const entry = `"entry":${JSON.stringify(entryText(keyed))}`;
  return keys === undefined ? entry : `${entry},"keys":${JSON.stringify(keys?.map(encodeBase64url) ?? null)}`;
}

function placeMembers({ logIndex, inclusion }: LoggedPlace): string {
  return `"log_index":${logIndex},"inclusion":${inclusion}`;
}

async function* fullTexts(batches: SnapshotBatches, end = ''): AsyncGenerator<Iterable<string>, void> {
  const textOf = (snapshot: ShownSnapshot): string => snapshotText(snapshot, 'full') + end;
  for await (const batch of batches) yield textsOf(batch, textOf);
}
