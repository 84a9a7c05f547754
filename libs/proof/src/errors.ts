import { TlogError, type TlogErrorCode } from '@iss/tlog';

/** The base class of all errors of the client, which verification shares. */
export class IdentityStateError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * The check that failed:
 *
 * - `other_subject`, `other_version`, `other_snapshot`: the answer is not what was requested
 * - `unhashed`: the version has no `envelope_hash` (an import without hashes), so nothing can be verified
 * - `envelope_missing`: the content is missing without an erasure
 * - `hash`: the content has another hash
 * - `header`: the header contradicts the content
 * - `changed`: the version differs from what this client saw before
 * - `chain`: `prev_hash` is not the hash of the previous version
 * - `gap`: a history lacks versions
 * - `rolled_back`: the latest version is older than one that this client saw before
 * - `as_of`: the version was not the newest one at the requested time
 * - `not_in_log`: the log entry is missing or belongs to something else
 * - `logged_twice`: the log has two entries for one version
 * - `backdated`: the version was logged after a stored checkpoint, but its time is before that checkpoint
 * - `checkpoint`: its signatures do not satisfy the policy
 * - `checkpoint_older`: the log shows an older state than before
 * - `forked`: the log does not continue its earlier state. Keep `evidence`
 * - `clock`: a signature has a future time
 * - `stale`: the witnesses dated the checkpoint too long ago
 * - `written`: the service stored something else than was sent
 * - `not_newest`: the map does not prove that nothing newer exists
 * - `feed`: the change feed repeats or goes back
 */
export type VerificationFailure =
  | 'other_subject'
  | 'other_version'
  | 'other_snapshot'
  | 'unhashed'
  | 'envelope_missing'
  | 'hash'
  | 'header'
  | 'changed'
  | 'chain'
  | 'gap'
  | 'rolled_back'
  | 'as_of'
  | 'not_in_log'
  | 'logged_twice'
  | 'backdated'
  | 'checkpoint'
  | 'checkpoint_older'
  | 'forked'
  | 'clock'
  | 'stale'
  | 'written'
  | 'not_newest'
  | 'feed';

/** An answer or a proof that failed verification and must not be trusted. */
export class VerificationError extends IdentityStateError {
  readonly failure: VerificationFailure;
  /** Texts to keep as evidence, such as both signed checkpoints of a fork. */
  readonly evidence: readonly string[];

  constructor(
    failure: VerificationFailure,
    message: string,
    options: ErrorOptions & { evidence?: readonly string[] } = {},
  ) {
    super(message, options);
    this.failure = failure;
    this.evidence = options.evidence ?? [];
  }
}

/** A text that is not a proof at all. `message` names the place and the expected content. */
export class UnreadableError extends VerificationError {}

/** The codes of a text that is not in its format. All others refuse a proof. */
const UNREADABLE: readonly TlogErrorCode[] = ['malformed', 'unsupported_key', 'ambiguous_key'];

/** Runs work and adds the place to its errors. @throws VerificationError */
export function judged<T>(where: string, work: () => T, failure: VerificationFailure = 'not_in_log'): T {
  try {
    return work();
  } catch (error) {
    throw judgement(where, failure, error);
  }
}

/** The same for asynchronous work. */
export async function judgedLater<T>(
  where: string,
  work: () => Promise<T>,
  failure: VerificationFailure = 'not_in_log',
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw judgement(where, failure, error);
  }
}

function judgement(where: string, failure: VerificationFailure, cause: unknown): unknown {
  if (!(cause instanceof TlogError)) return cause;
  const Refusal = UNREADABLE.includes(cause.code) ? UnreadableError : VerificationError;
  return new Refusal(failure, `${where}: ${cause.message}`, { cause });
}
