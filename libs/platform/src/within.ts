/** Work that did not end within its time. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/**
 * Returns the promise's outcome, or rejects after `timeoutMs` with an error that names `what`. The work itself
 * continues, and a later failure of it is not reported.
 */
export function within<T>(timeoutMs: number, work: Promise<T>, what = 'It'): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new TookTooLong(`${what} took longer than ${timeoutMs} ms`)), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
