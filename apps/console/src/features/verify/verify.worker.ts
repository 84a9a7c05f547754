import {
  MAX_LINE_BYTES,
  Members,
  prove,
  type Proved,
  proveFile,
  type ProvedFile,
  type ProvedVersion,
  readPolicy,
  reportAsJson,
  reportOf,
  requireCheckpoint,
  type Step,
  UnreadableError,
  VerificationError,
  withoutQuorum,
} from '@iss/proof';
import { proveNewestVersion, verifyMapAnswer } from '@iss/proof/complete';
import { canonicalize, isJsonObject, jsonEquals, type JsonObject, type JsonValue } from '@iss/domain/pure';
import { encodeUtf8, sha256, toHex } from '@iss/tlog';
import { serve } from '../../app/worker-side.ts';
import type {
  FileJob,
  FileOutcome,
  ValuesJob,
  VerifyJob,
  VerifyProgress,
  VerifyResult,
  VersionJob,
  VersionValues,
} from './job.ts';
import { TEXT } from './words.ts';

/** The number of versions per progress message. */
const TOLD_AT_ONCE = 250;
const NEWLINE = 0x0a;

/** The line of a bundle that is verified now, from 1; null outside of a bundle. */
interface Place {
  line: number | null;
}

serve<VerifyJob, VerifyProgress, VerifyResult>(async (job, tell) => {
  switch (job.is) {
    case 'version':
      return { is: 'steps', steps: await stepsOf(job) };
    case 'values':
      return valuesOf(job);
    case 'file':
      return verifyFile(job, tell);
  }
});

async function stepsOf({ evidence, newest }: VersionJob): Promise<Step[]> {
  const steps: Step[] = [];
  for await (const step of prove(evidence)) steps.push(step);
  if (newest !== null) steps.push(await proveNewestVersion({ ...evidence, newest }));
  return steps;
}

async function verifyFile(job: FileJob, tell: (progress: VerifyProgress) => void): Promise<FileOutcome> {
  const place: Place = { line: null };
  try {
    const { proved, since } = await provedBy(job, place, tell);
    requireFact(proved, job.file.expected ?? {});
    return { is: 'proved', report: reportOf(proved, since), json: reportAsJson(proved, since) };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const is = error instanceof UnreadableError ? 'unreadable' : 'refused';
    return { is, message: error.message, line: place.line };
  }
}

/** Verifies a file and reports the verified versions. */
async function provedBy(
  { file: { blob, entry, since: note }, trusted }: FileJob,
  place: Place,
  tell: (progress: VerifyProgress) => void,
): Promise<ProvedFile> {
  const policy = await readPolicy(trusted);
  const { vrfKey } = policy;
  const since = note === undefined ? null : await requireCheckpoint(note, withoutQuorum(policy), TEXT.since);
  const steps = proveFile({
    lines: countedLines(blob, place),
    readWhole: async () => {
      place.line = null;
      return new Uint8Array(await blob.arrayBuffer());
    },
    name: 'The proof',
    entry: entry === null ? null : encodeUtf8(entry),
    policy,
    since,
    fetchConsistency,
    ...(vrfKey === null ? {} : { verifyMap: async (answer) => verifyMapAnswer(answer, { policy, vrfKey }) }),
  });
  let versions: ProvedVersion[] = [];
  let count = 0;
  const tellVersions = (): void => {
    if (versions.length > 0) tell({ versions, of: count });
    versions = [];
  };
  try {
    for (;;) {
      const { done, value } = await steps.next();
      if (done === true) return value;
      count = value.of;
      if (versions.push(value.version) >= TOLD_AT_ONCE) tellVersions();
    }
  } finally {
    tellVersions();
  }
}

async function* countedLines(blob: Blob, place: Place): AsyncGenerator<Uint8Array, void> {
  place.line = 0;
  for await (const line of linesOf(blob)) {
    place.line++;
    yield line;
  }
  place.line = null;
}

/** Refuses a proof of another fact than the expected one. */
function requireFact({ json }: Proved, expected: JsonObject): void {
  if (Object.keys(expected).length === 0) return;
  const { entry } = json;
  const fact = Members.parse('The entry', typeof entry === 'string' ? entry : JSON.stringify(json)).all;
  for (const [name, value] of Object.entries(expected)) {
    const found = fact[name] ?? null;
    if (jsonEquals(found, value)) continue;
    throw new VerificationError('not_in_log', TEXT.otherFact(name, textOf(found), textOf(value)));
  }
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

async function fetchConsistency(from: number, to: number): Promise<readonly string[]> {
  const response = await fetch(`/log/consistency?from=${from}&to=${to}`);
  if (!response.ok) throw new UnreadableError('forked', TEXT.noConsistency(response.status));
  return Members.parse(TEXT.since, await response.text()).texts('proof');
}

/** Reads a version of a verified bundle again. Its content must still have the verified hash. */
async function valuesOf({ blob, version, envelopeHash }: ValuesJob): Promise<VersionValues> {
  let number = 0;
  for await (const line of linesOf(blob)) {
    if (number++ !== version) continue;
    const { envelope = null, ...unhashed } = Members.parse('The line', line).object('snapshot').all;
    if (toHex(sha256(encodeUtf8(canonicalize(envelope)))) !== envelopeHash) break;
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
    if (length > MAX_LINE_BYTES)
      throw new UnreadableError('not_in_log', `A line has more than ${MAX_LINE_BYTES} bytes.`);
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
