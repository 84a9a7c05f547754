import type { Classes } from '../json/classes';
import { type Cover, isSameCover, type AttributedPlace } from './attribution';

/** The covers of a value. */
export interface Covers {
  cover: Cover | null;
  /** The cover of this value in the previous version. For a new value, the cover that it would have had. */
  coverBefore: Cover | null;
  /** The cover of the same path in the previous version. It belongs to another element if array elements moved. */
  coverThere: Cover | null;
}

/**
 * The places of a value: of the value in the previous version, of its path in the previous version, and of the value
 * now.
 */
export interface Places {
  from: AttributedPlace;
  there: AttributedPlace;
  to: AttributedPlace;
}

/** Moves to the child with this token in all places. */
export function stepTo({ from, there, to }: Places, token: string | number): Places {
  return { from: from.step(token), there: there.step(token), to: to.step(token) };
}

/** Returns the covers of these places. */
export function coversOf({ from, there, to }: Places): Covers {
  return { cover: to.cover, coverBefore: from.cover, coverThere: there.cover };
}

/**
 * Checks whether a changed value has the same evidence as before, or the evidence of its path in the previous version.
 */
export function isOlder({ cover, coverBefore, coverThere }: Covers, classes: Classes): boolean {
  if (cover === null || cover.isEmpty) return false;
  return isSameCover(coverBefore, cover, classes) || isSameCover(coverThere, cover, classes);
}
