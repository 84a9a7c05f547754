/** The promise's outcome, or an error after `timeoutMs`. The work itself goes on; a late failure of it is not reported. */
export function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`It took longer than ${timeoutMs} ms`)), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
