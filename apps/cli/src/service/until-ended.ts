/** What goes on until the process is asked to end: that it was is no failure. */
export async function untilEnded(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
