import {
  BundleVerifier,
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
  UnreadableError,
  verifyEntryProof,
} from '@identity-state/client/bundle';
import { MAX_PROOF_LENGTH } from '@iss/tlog';
import { serve } from '../../app/worker-side.ts';
import { stepsOf } from '../proof/steps.ts';
import type { FileJob, FileOutcome, VerifyJob, VerifyProgress, VerifyResult } from './job.ts';

/** Versions that are told of at once: the page is not woken for each. */
const TOLD_AT_ONCE = 250;
const NEWLINE = 0x0a;

serve<VerifyJob, VerifyProgress, VerifyResult>(async (job, tell) =>
  job.is === 'version' ? { is: 'steps', steps: await stepsOf(job.proof) } : verifyFile(job, tell),
);

async function verifyFile(job: FileJob, tell: (progress: VerifyProgress) => void): Promise<FileOutcome> {
  const place: { line: number | null } = { line: null };
  try {
    const proved = await provedBy(job, place, tell);
    return { is: 'proved', report: reportOf(proved, null), json: reportAsJson(proved, null) };
  } catch (error) {
    if (error instanceof RefusedError) return { is: 'refused', message: error.message, line: place.line };
    if (error instanceof UnreadableError) return { is: 'unreadable', message: error.message, line: place.line };
    throw error;
  }
}

async function provedBy(
  { file, trusted, entry }: FileJob,
  place: { line: number | null },
  tell: (progress: VerifyProgress) => void,
): Promise<Proved> {
  const policy = await readPolicy(trusted);
  const lines = linesOf(file);
  const first = (await lines.next()).value ?? new Uint8Array(0);
  const kind = kindOfFile(first);
  if (kind !== 'bundle') {
    await lines.return();
    if (file.size > MAX_PROOF_LENGTH) throw new UnreadableError(`A proof has at most ${MAX_PROOF_LENGTH} bytes.`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const proof = kind === 'proof' ? readProofFile(bytes) : readProofAnswer(Members.parse('The proof', bytes));
    return verifyEntryProof(proof, entry === null ? null : new TextEncoder().encode(entry), policy);
  }
  place.line = 1;
  const bundle = await BundleVerifier.open(first, policy);
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

/** The lines of a file, without their ends and never all of them in memory. */
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

/** A line of its parts. */
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
