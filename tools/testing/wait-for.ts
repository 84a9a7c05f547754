/** The default deadline. It only ends a test that would fail, so it is long enough for a machine that is busy with others. */
const DEADLINE_MS = 100_000;

/**
 * Waits until `condition` returns a truthy value, and returns that value. A condition that throws is tried again.
 * @throws Error that names `what` after `deadlineMs`
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { deadlineMs = DEADLINE_MS, what = 'the condition' }: { deadlineMs?: number; what?: string } = {},
): Promise<NonNullable<T>> {
  const deadline = Date.now() + deadlineMs;
  let lastError: unknown;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    try {
      const value = await condition();
      if (value) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > deadline) {
      throw new Error(
        `Waited ${deadlineMs} ms without success for ${what}`,
        lastError === undefined ? {} : { cause: lastError },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
