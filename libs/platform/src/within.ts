/** Work did not end within its time. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/**
 * The promise's outcome, or after `timeoutMs` an error that says what took so long. The work itself goes on; a late failure
 * of it is not reported.
 */
export function within<T>(timeoutMs: number, work: Promise<T>, what = 'It'): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new TookTooLong(`${what} took longer than ${timeoutMs} ms`)), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
