import { DomainError } from '@iss/domain/pure';
import { TlogError, type TlogErrorCode } from '@iss/tlog';
import { ProtocolError, VerificationError } from '../errors.ts';

/** The proof failed a check. `message` names the place and the fault. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** The file is not a proof. `message` names the place and the expected content. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

const CLASSES = { refused: RefusedError, unreadable: UnreadableError } as const;

/** Maps errors of the log library to an unreadable file or a refused proof. */
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

/** Runs work and adds the place to its errors. @throws RefusedError, UnreadableError */
export function judged<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw judgement(where, error);
  }
}

/** The same for asynchronous work. */
export async function judgedLater<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw judgement(where, error);
  }
}

function judgement(where: string, error: unknown): unknown {
  if (error instanceof TlogError) return new CLASSES[MEANING[error.code]](`${where}: ${error.message}`);
  // Its message already names the place.
  if (error instanceof VerificationError) return new RefusedError(error.message);
  if (error instanceof ProtocolError) return new UnreadableError(`${where}: ${error.message}`);
  if (error instanceof DomainError) return new UnreadableError(`${where} is not JSON: ${error.message}`);
  return error;
}
