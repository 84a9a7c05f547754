/**
 * `report`, at most once in `periodMs`; calls in between are dropped. For warnings about a dependency that is down,
 * which would otherwise be as many as the requests.
 */
export function rarely<Args extends unknown[]>(
  periodMs: number,
  report: (...args: Args) => void,
): (...args: Args) => void {
  let silentUntil = 0;
  return (...args) => {
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + periodMs;
    report(...args);
  };
}
