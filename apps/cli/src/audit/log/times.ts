import { type Checked, notice, report } from '../findings';

/** The tolerance for clock differences and waiting transactions. */
export const CLOCK_SKEW_MS = 60_000;
/** A fact that was logged this much later than its own time is a notice, unless a checkpoint proves that it is back-dated. */
const LATE_MS = 3_600_000;
/** Longer than any transaction of the applications and any clock difference. */
const COMMIT_MS = 300_000;

/** Signed tree sizes with their times, ascending. They bound the time of an entry. */
export interface SignedSizes {
  readonly sizes: Float64Array;
  readonly atMs: Float64Array;
  /** All facts committed before this time are in the tree of that size. -Infinity if no time was recorded. */
  readonly completeMs: Float64Array;
}

/** Checks that a fact is older than the first signed tree with it, and newer than the trees that were complete without it. */
export function checkTime(
  checked: Checked,
  { sizes, atMs: signedAtMs, completeMs }: SignedSizes,
  { index, where, at, isLate }: { index: number; where: string; at: string; isLate: boolean },
): void {
  const atMs = Date.parse(at);
  const next = firstAbove(sizes, index);
  const signed = signedAtMs[next];
  if (signed !== undefined && atMs > signed + CLOCK_SKEW_MS) {
    report(
      checked,
      'time',
      where,
      `${at} is after the signing of the checkpoint of ${sizes[next]} entries that has it`,
    );
  }
  const complete = completeMs[next - 1];
  if (complete !== undefined && atMs < complete - COMMIT_MS && !isLate) {
    const when = new Date(complete).toISOString();
    report(checked, 'time', where, `its time is ${at}, but the log was complete without it at ${when}: back-dated`);
    return;
  }
  const before = signedAtMs[next - 1];
  if (before !== undefined && atMs < before - LATE_MS) {
    const when = new Date(before).toISOString();
    notice(checked, where, `its time is ${at}, but it was not in the log at ${when}: logged late, or back-dated`);
  }
}

/** Returns the position of the first size above the index. */
function firstAbove(sizes: Float64Array, index: number): number {
  let [from, to] = [0, sizes.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sizes[middle] ?? 0) > index) to = middle;
    else from = middle + 1;
  }
  return from;
}
