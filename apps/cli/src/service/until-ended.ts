/** Runs work until the process is asked to end. An error after that is not a failure. */
export async function untilEnded(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
