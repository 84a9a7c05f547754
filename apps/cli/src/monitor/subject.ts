import { ApiError } from '@identity-state/client';
import type { JsonObject } from '@iss/domain/pure';
import { accessStream, granteeStream } from '@iss/map';
import { Members, UnreadableError, VerificationError } from '@iss/proof';
import type { MapTrust } from '@iss/proof/complete';
import type { VerifiedCheckpoint } from '@iss/tlog';
import { Failure } from '../command';
import type { Caller } from '../service/caller';
import type { SubjectName } from '../service/subject-name';
import { visible } from '../visible';
import { Contradiction, continueLog, type LogLook } from './monitor';
import type { KnownNumber, SubjectState } from './subject-state';

/** The seconds that the service waits until a new fact is in the log. */
const WAIT = '10';

/** The streams to follow, and how a line of output names their newest number. */
const STREAMS = [
  ['v', 'newest version'],
  ['a', 'changes of access'],
  ['p', 'grants to your tenant'],
] as const;
type Stream = (typeof STREAMS)[number][0];

/** The newest number of a stream. */
export interface StreamLook {
  readonly stream: Stream;
  readonly what: string;
  /** False if the service refuses this proof to the caller. */
  readonly isAllowed: boolean;
  readonly number: number;
  readonly logIndex: number | null;
}

/** The result of one check of a subject. */
export interface SubjectLook extends LogLook {
  /** TYPE/ID. */
  readonly subject: string;
  readonly streams: readonly StreamLook[];
}

interface Followed {
  readonly caller: Caller;
  readonly subject: SubjectName;
  /** The URL prefix of the log. */
  readonly url: string;
  readonly trust: MapTrust;
  readonly state: SubjectState;
  readonly signal: AbortSignal;
}

interface Shown extends KnownNumber {
  readonly verified: VerifiedCheckpoint;
  readonly note: string;
}

/**
 * Proves the newest number of each stream of a subject, compares them with the last check, and checks that the log only grew.
 *
 * @throws Contradiction if a proof fails, a number went back, or the log shows another history. The answers are saved as evidence.
 * @throws Failure if the service refuses or cannot be reached
 */
export async function lookAtSubject(followed: Followed): Promise<SubjectLook> {
  const { state } = followed;
  state.discard();
  const all = await Promise.all(
    STREAMS.map(async ([stream, what]) => ({ stream, what, shown: await shownOf(stream, followed) })),
  );
  const look = await continueAll(
    all.flatMap(({ shown }) => shown ?? []),
    followed,
  );
  for (const { stream, what, shown } of all) await compare(stream, what, shown, followed);
  await state.save();
  return {
    ...look,
    subject: nameOf(followed.subject),
    streams: all.map(({ stream, what, shown }) => ({
      stream,
      what,
      isAllowed: shown !== null,
      number: shown?.number ?? 0,
      logIndex: shown?.logIndex ?? null,
    })),
  };
}

/** Checks that the log of the last check led to each of the checkpoints. */
async function continueAll(shown: readonly Shown[], { url, trust, state, signal }: Followed): Promise<LogLook> {
  const sizes = [...shown].sort((one, other) => sizeOf(one) - sizeOf(other));
  let look: LogLook | undefined;
  for (const { note } of sizes) {
    const next = await continueLog(note, url, trust.policy, state, signal);
    look = { ...next, knownSize: look === undefined ? next.knownSize : look.knownSize };
  }
  if (look === undefined) throw new Failure('The service shows no proof of this subject.');
  return look;
}

const sizeOf = ({ verified }: Shown): number => verified.checkpoint.size;
const nameOf = ({ type, id }: SubjectName): string => `${type}/${id}`;

/** Fetches and verifies the proof of a stream. Returns null if the caller may not see it. */
async function shownOf(stream: Stream, followed: Followed): Promise<Shown | null> {
  const { caller, subject, trust, state } = followed;
  let answer: JsonObject;
  try {
    answer = await caller.iss.request<JsonObject>('GET', pathOf(stream, caller, subject));
  } catch (error) {
    if (stream !== 'v' && error instanceof ApiError && error.status === 403) return null;
    throw error;
  }
  try {
    return { ...(await prove(stream, Members.of('The proof', answer), caller, subject, trust)), answer };
  } catch (error) {
    if (error instanceof UnreadableError)
      throw new Failure(`The proof of ${nameOf(subject)} is unreadable: ${error.message}`);
    if (!(error instanceof VerificationError)) throw error;
    return contradict(
      `shows a proof that fails: ${visible(error.message)}`,
      stream,
      await state.known(stream),
      answer,
      followed,
    );
  }
}

function pathOf(stream: Stream, { tenant }: Caller, { type, id }: SubjectName): string {
  const base = `/v1/tenants/${encodeURIComponent(tenant.tenantId)}/subjects/${type}/${encodeURIComponent(id)}`;
  return stream === 'v' ? `${base}/latest-proof?wait=${WAIT}` : `${base}/absence-proof?stream=${stream}&wait=${WAIT}`;
}

async function prove(
  stream: Stream,
  answer: Members,
  { tenant }: Caller,
  { type, id }: SubjectName,
  trust: MapTrust,
): Promise<Omit<Shown, 'answer'>> {
  const { proveNewest, verifyMapAnswer } = await import('@iss/proof/complete');
  const note = answer.object('map').text('checkpoint');
  const named = nameOf({ type: type, id });
  const shown = `${answer.text('subject_type')}/${answer.text('subject_id')}`;
  if (shown !== named) throw new VerificationError('not_newest', `It is of ${shown} instead of ${named}.`);
  if (stream === 'v') {
    const { verified } = await verifyMapAnswer(answer, trust);
    const { size } = verified.checkpoint;
    if (answer.count('as_of_size') !== size)
      throw new VerificationError(
        'not_newest',
        `It is of the first ${answer.count('as_of_size')} entries instead of ${size}.`,
      );
    return {
      verified,
      note,
      number: answer.count('snapshot_version'),
      logIndex: answer.object('head').count('log_index'),
    };
  }
  const name = stream === 'a' ? accessStream(type, id) : granteeStream(tenant.tenantId, type, id);
  const { verified, number, head } = await proveNewest(name, answer.value('map'), trust);
  if (answer.count('number') !== number + 1)
    throw new VerificationError(
      'not_newest',
      `The newest number is ${number}, so ${answer.count('number')} is not the next one.`,
    );
  return { verified, note, number, logIndex: head?.logIndex ?? null };
}

/** Compares a stream with the last check, and keeps the newer number. */
async function compare(stream: Stream, what: string, shown: Shown | null, followed: Followed): Promise<void> {
  const known = await followed.state.known(stream);
  if (shown === null) {
    if (known === null) return;
    throw new Failure(
      `The service no longer shows you ${what} of ${nameOf(followed.subject)}. The last proof said ${known.number}.`,
    );
  }
  const { number, logIndex, answer } = shown;
  if (known !== null && number < known.number)
    await contradict(`went back from ${what} ${known.number} to ${number}`, stream, known, answer, followed);
  if (known !== null && number === known.number && logIndex !== known.logIndex)
    await contradict(
      `shows ${what} ${number} in entry ${logIndex} instead of ${known.logIndex}`,
      stream,
      known,
      answer,
      followed,
    );
  await followed.state.keep(stream, { number, logIndex, answer });
}

async function contradict(
  how: string,
  stream: Stream,
  known: KnownNumber | null,
  answer: JsonObject,
  { state, subject }: Followed,
): Promise<never> {
  const files = await state.keepEvidence(JSON.stringify(known?.answer ?? null), JSON.stringify(answer));
  throw new Contradiction(
    `The service ${how} (${nameOf(subject)}, stream ${stream}). The answers are saved as evidence: ${files.join(', ')}. The state file is unchanged.`,
  );
}
