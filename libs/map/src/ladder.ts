import { MapError } from './errors';
import { MAX_NEWEST, MAX_NUMBER } from './limits';

/** One rung: whether the number is in the map (at the size that the proof is about). */
export interface Rung {
  readonly number: number;
  readonly isPresent: boolean;
}

/**
 * Returns the numbers to look up, in order, so that `newest` is proved the newest of its stream: 1, 2, 4 … until one is
 * absent, then halving between the last present and the first absent one. They always include `newest`, unless it is 0,
 * and `newest` + 1. For a proof as of a tree size, `newest` is the newest number at that size.
 *
 * @throws MapError `out_of_range`
 */
export function ladderNumbers(newest: number): number[] {
  if (!Number.isSafeInteger(newest) || newest < 0 || newest > MAX_NEWEST) {
    throw new MapError('out_of_range', `The newest number ${newest} is not a whole number from 0 to ${MAX_NEWEST}.`);
  }
  const numbers: number[] = [];
  climb((number) => {
    numbers.push(number);
    return number <= newest;
  });
  return numbers;
}

/**
 * Returns the newest number that a ladder proves, or 0 if the stream is empty.
 *
 * @throws MapError `ladder_refused` unless the rungs are exactly those of `ladderNumbers` for it
 */
export function newestOfLadder(rungs: readonly Rung[]): number {
  let used = 0;
  const newest = climb((number) => {
    const rung = rungs[used++];
    if (rung?.number !== number) throw refused(`look-up ${used} must be of the number ${number}`);
    return rung.isPresent;
  });
  if (used !== rungs.length) throw refused(`it has ${rungs.length} look-ups, and ${used} are needed`);
  return newest;
}

/**
 * Yields the numbers to look up, and receives whether each is present. Returns the number n for which n is present and
 * n + 1 is not.
 *
 * @throws MapError `ladder_refused` if a number is above the largest one
 */
export function* climbing(): Generator<number, number, boolean> {
  let present = 0;
  let absent = 1;
  while (yield absent) {
    if (absent >= MAX_NUMBER) throw refused('a number is above the largest one');
    present = absent;
    absent *= 2;
  }
  while (absent - present > 1) {
    const middle = present + Math.floor((absent - present) / 2);
    if (yield middle) present = middle;
    else absent = middle;
  }
  return present;
}

function climb(isPresent: (number: number) => boolean): number {
  const numbers = climbing();
  let step = numbers.next();
  while (step.done !== true) step = numbers.next(isPresent(step.value));
  return step.value;
}

function refused(why: string): MapError {
  return new MapError('ladder_refused', `The look-ups do not prove the newest number: ${why}.`);
}
