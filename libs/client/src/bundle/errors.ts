import { DomainError } from '@iss/domain/pure';
import { TlogError, type TlogErrorCode } from '@iss/tlog';
import { ProtocolError, VerificationError } from '../errors.ts';

/** The proof does not hold: `message` names the place, and what is wrong there. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** That is no proof at all: `message` names the place, and what it should be. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

const CLASSES = { refused: RefusedError, unreadable: UnreadableError } as const;

/** Whether what the log's library refuses is no proof at all, or one that does not hold. */
const MEANING: Readonly<Record<TlogErrorCode, keyof typeof CLASSES>> = {
  malformed: 'unreadable',
  unsupported_key: 'unreadable',
  ambiguous_key: 'unreadable',
  unreadable: 'refused',
  out_of_range: 'refused',
  proof_refused: 'refused',
  unsigned: 'refused',
  bad_signature: 'refused',
  wrong_log: 'refused',
  no_quorum: 'refused',
};

/** Does it, and says of what the log's library refuses where it was. @throws RefusedError, UnreadableError */
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
  if (error instanceof TlogError) return new CLASSES[MEANING[error.code]](`${where}: ${error.message}`);
  // They name the place themselves.
  if (error instanceof VerificationError) return new RefusedError(error.message);
  if (error instanceof ProtocolError) return new UnreadableError(`${where}: ${error.message}`);
  if (error instanceof DomainError) return new UnreadableError(`${where} is not JSON: ${error.message}`);
  return error;
}
