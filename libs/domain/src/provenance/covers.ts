import type { Classes } from '../json/classes';
import { type Cover, isSameCover, type Place } from './attribution';

/** What covers a value. */
export interface Covers {
  cover: Cover | null;
  /** What covered it, or would have covered it, in the version before. */
  coverBefore: Cover | null;
  /** What covered its place in the version before: that of another element, if elements of an array moved. */
  coverThere: Cover | null;
}

/** What covers a value: before, at its new place before, and now. */
export interface Places {
  from: Place;
  there: Place;
  to: Place;
}

/** The places of a child, which has the same token in all of them. */
export function stepTo({ from, there, to }: Places, token: string | number): Places {
  return { from: from.step(token), there: there.step(token), to: to.step(token) };
}

/** What covers at these places. */
export function coversOf({ from, there, to }: Places): Covers {
  return { cover: to.cover, coverBefore: from.cover, coverThere: there.cover };
}

/** Whether a changed value is covered by what covered it, or its place, before. */
export function isOlder({ cover, coverBefore, coverThere }: Covers, classes: Classes): boolean {
  if (cover === null || cover.isEmpty) return false;
  return isSameCover(coverBefore, cover, classes) || isSameCover(coverThere, cover, classes);
}
