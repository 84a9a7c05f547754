/**
 * The bounds of this room, so that no document, however it is shaped, takes more than its share of a process. Each with its
 * reason; `docs/limits.md` says what a caller sees of them. What a deployment sets is in `libs/platform/src/limits.ts`.
 */

/** How many arrays and objects may lie inside one another unless the caller says otherwise (contract, "Numbers"). */
export const DEFAULT_MAX_DEPTH = 64;

/**
 * How deep functions that call themselves follow a document; what lies deeper is read and written with a stack of its own,
 * and diffed as a whole. More than a deployment may let in (512) with what an envelope's `diff` puts around it, and a
 * fraction of what the stack of a thread holds.
 */
export const MAX_RECURSION = 640;

/** A caller who got this many things wrong learns nothing from more, and the answer stays small. */
export const MAX_PROBLEMS = 100;

/** Characters of a JSON Pointer in a message or a detail: what is longer names no place that a person would look for. */
export const MAX_POINTER_SHOWN = 256;

/** What a patch may do to the size of the result, and how much it may move about. */
export interface PatchLimits {
  /** How many arrays and objects may lie inside one another where the patch puts something. */
  maxDepth: number;
  /** How much all `copy` operations together may copy: one for each value, and one for each character of keys and strings. */
  maxCopied: number;
  /** How many elements all operations together may shift in arrays that they insert into or take from. */
  maxShifted: number;
}

/**
 * `maxCopied`: copies may add about as much as the largest request body (1 MiB) holds. `maxShifted`: some 50 ms, and a
 * thousand operations in the middle of an array of half a million elements.
 */
export const DEFAULT_PATCH_LIMITS: PatchLimits = {
  maxDepth: DEFAULT_MAX_DEPTH,
  maxCopied: 1_048_576,
  maxShifted: 2 ** 28,
};

/**
 * What the operations of a diff may cost together before places are replaced whole, in bytes: an operation costs its value,
 * twice its path (which the attribution repeats) and {@link DIFF_OPERATION_COST}. Four times the largest request body, or
 * some 16,000 operations: more than anybody reads.
 */
export const DIFF_BUDGET = 4_194_304;

/** What an operation costs beside value and path: it has members of its own, is sorted, counted, hashed and attributed. */
export const DIFF_OPERATION_COST = 256;
