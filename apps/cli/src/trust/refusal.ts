import { TlogError, type TlogErrorCode } from '@iss/tlog';
import { Failure, UsageError } from '../command';

/** Whether what the library refuses is no proof at all, or one that does not hold. */
const MEANING: Readonly<Record<TlogErrorCode, 'garbage' | 'refused'>> = {
  malformed: 'garbage',
  unsupported_key: 'garbage',
  ambiguous_key: 'garbage',
  unreadable: 'refused',
  out_of_range: 'refused',
  proof_refused: 'refused',
  unsigned: 'refused',
  bad_signature: 'refused',
  wrong_log: 'refused',
  no_quorum: 'refused',
};

/** Does it, and says of what the log's library refuses where it was: exit code 1, or 2 for what is no proof at all. */
export function judged<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw judgement(where, error);
  }
}

/** {@link judged} for what takes its time. */
export async function judgedLater<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw judgement(where, error);
  }
}

function judgement(where: string, error: unknown): unknown {
  if (!(error instanceof TlogError)) return error;
  const message = `${where}: ${error.message}`;
  return MEANING[error.code] === 'garbage' ? new UsageError(message) : new Failure(message);
}
