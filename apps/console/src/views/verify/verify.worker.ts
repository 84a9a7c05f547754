import {
  BundleVerifier,
  floorOf,
  judged,
  kindOfFile,
  MAX_LINE_BYTES,
  Members,
  type Proved,
  type ProvedVersion,
  readPolicy,
  readProofAnswer,
  readProofFile,
  RefusedError,
  reportAsJson,
  reportOf,
  requireCheckpoint,
  type Since,
  UnreadableError,
  verifyEntryProof,
} from '@identity-state/client/bundle';
import { canonicalize, isJsonObject, jsonEquals, type JsonObject, type JsonValue } from '@iss/domain/pure';
import {
  type Checkpoint,
  decodeHash,
  equalBytes,
  MAX_PROOF_LENGTH,
  type Policy,
  sha256,
  toHex,
  verifyConsistency,
  type VerifiedCheckpoint,
} from '@iss/tlog';
import { serve } from '../../app/worker-side.ts';
import { TEXT } from '../../text/verify.ts';
import { stepsOf } from '../proof/steps.ts';
import type { FileJob, FileOutcome, ValuesJob, VerifyJob, VerifyProgress, VerifyResult, VersionValues } from './job.ts';

/** The number of versions per progress message. */
const TOLD_AT_ONCE = 250;
const NEWLINE = 0x0a;

serve<VerifyJob, VerifyProgress, VerifyResult>(async (job, tell) => {
  switch (job.is) {
    case 'version':
      return { is: 'steps', steps: await stepsOf(job.proof) };
    case 'values':
      return valuesOf(job);
    case 'file':
      return verifyFile(job, tell);
  }
});

async function verifyFile(job: FileJob, tell: (progress: VerifyProgress) => void): Promise<FileOutcome> {
  const place: { line: number | null } = { line: null };
  try {
    const policy = await readPolicy(job.trusted);
    const { since: note } = job.file;
    const known = note === undefined ? null : await requireCheckpoint(note, { ...policy, quorum: null }, TEXT.since);
    const proved = await provedBy(job, { policy, known }, place, tell);
    const since = known === null ? null : await sinceOf(known.checkpoint, proved.verified.checkpoint);
    return { is: 'proved', report: reportOf(proved, since), json: reportAsJson(proved, since) };
  } catch (error) {
    if (error instanceof RefusedError) return { is: 'refused', message: error.message, line: place.line };
    if (error instanceof UnreadableError) return { is: 'unreadable', message: error.message, line: place.line };
    throw error;
  }
}

async function provedBy(
  { file: { blob: file, entry, expected = {} } }: FileJob,
  { policy, known }: { readonly policy: Policy; readonly known: VerifiedCheckpoint | null },
  place: { line: number | null },
  tell: (progress: VerifyProgress) => void,
): Promise<Proved> {
  // An entry after the reader's checkpoint must not state an earlier time.
  const floor = known === null ? null : floorOf(known);
  const lines = linesOf(file);
  const first = (await lines.next()).value ?? new Uint8Array(0);
  const kind = kindOfFile(first);
  if (kind !== 'bundle') {
    await lines.return();
    if (file.size > MAX_PROOF_LENGTH) throw new UnreadableError(`A proof has at most ${MAX_PROOF_LENGTH} bytes.`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const proof = kind === 'proof' ? readProofFile(bytes) : readProofAnswer(Members.parse('The proof', bytes));
    const given = entry === null ? null : new TextEncoder().encode(entry);
    const proved = await verifyEntryProof(proof, given, policy, floor);
    requireFact(proved, expected);
    return proved;
  }
  place.line = 1;
  const bundle = await BundleVerifier.open(first, policy, undefined, floor);
  const of = Members.parse('The first line', first).count('versions');
  let told: ProvedVersion[] = [];
  try {
    for await (const line of lines) {
      place.line++;
      told.push(bundle.add(line));
      if (told.length < TOLD_AT_ONCE) continue;
      tell({ versions: told, of });
      told = [];
    }
    place.line = null;
    return bundle.end();
  } finally {
    tell({ versions: told, of });
  }
}

/** Refuses a proof of another fact than the expected one. */
function requireFact({ json: { entry } }: Proved, expected: JsonObject): void {
  if (Object.keys(expected).length === 0) return;
  const logged = Members.parse('The entry', String(entry)).all;
  for (const [name, value] of Object.entries(expected)) {
    const found = logged[name] ?? null;
    if (!jsonEquals(found, value)) throw new RefusedError(TEXT.otherFact(name, textOf(found), textOf(value)));
  }
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Proves that the newer of the reader's and the file's checkpoint extends the older one. */
async function sinceOf(known: Checkpoint, shown: Checkpoint): Promise<Since> {
  if (known.origin !== shown.origin) throw new RefusedError(TEXT.otherLog(known.origin, shown.origin));
  if (known.size === shown.size) {
    if (!equalBytes(known.root, shown.root)) throw new RefusedError(TEXT.twoHistories(known.size));
    return { size: known.size };
  }
  const [older, newer] = known.size < shown.size ? [known, shown] : [shown, known];
  const response = await fetch(`/log/consistency?from=${older.size}&to=${newer.size}`);
  if (!response.ok) throw new UnreadableError(TEXT.noConsistency(response.status));
  const answer = Members.parse(TEXT.since, await response.text());
  judged(TEXT.since, () =>
    verifyConsistency(
      older,
      newer,
      answer.texts('proof').map((hash) => decodeHash(hash, 'hash of the consistency proof')),
    ),
  );
  return { size: known.size };
}

/** Reads a version of a verified bundle again. Its content must still have the verified hash. */
async function valuesOf({ blob, version, envelopeHash }: ValuesJob): Promise<VersionValues> {
  let number = 0;
  for await (const line of linesOf(blob)) {
    if (number++ !== version) continue;
    const { envelope = null, ...unhashed } = Members.parse('The line', line).object('snapshot').all;
    if (toHex(sha256(new TextEncoder().encode(canonicalize(envelope)))) !== envelopeHash) break;
    const attributes = isJsonObject(envelope) ? envelope['attributes'] : null;
    return { is: 'values', attributes: isJsonObject(attributes) ? attributes : {}, unhashed };
  }
  throw new Error(TEXT.changedFile);
}

/** Yields the lines of a file without their ends. Never has the whole file in memory. */
async function* linesOf(file: Blob): AsyncGenerator<Uint8Array, void> {
  const reader = file.stream().getReader();
  let begun: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    let from = 0;
    for (let end = value.indexOf(NEWLINE); end >= 0; end = value.indexOf(NEWLINE, from)) {
      yield joined([...begun, value.subarray(from, end)]);
      begun = [];
      length = 0;
      from = end + 1;
    }
    if (from < value.length) {
      begun.push(value.subarray(from));
      length += value.length - from;
    }
    if (length > MAX_LINE_BYTES) throw new UnreadableError(`A line has more than ${MAX_LINE_BYTES} bytes.`);
  }
  if (begun.length > 0) yield joined(begun);
}

/** Joins the parts of a line. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const line = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    line.set(part, at);
    at += part.length;
  }
  return line;
}
