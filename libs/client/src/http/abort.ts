import { ConnectionError } from '../errors.ts';

/** Waits for work until the signal aborts, even if the work ignores the signal. @throws the reason of the signal */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(reasonOf(signal));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new ConnectionError('Aborted.', { cause: reason });
}

/** Describes a platform error: its message with the code or message of its cause, such as ECONNREFUSED. */
export function reasonText(error: unknown): string {
  const member = (of: unknown, name: string): unknown => Reflect.get(Object(of), name);
  const beneath = member(error, 'cause');
  const texts = [member(error, 'message'), member(beneath, 'code') ?? member(beneath, 'message')];
  return texts.filter((text) => typeof text === 'string' && text !== '').join(': ') || String(error);
}
