/**
 * The limits of this library, so that no document can take more than its share of a process. `docs/limits.md` describes
 * them for callers. `libs/platform/src/env/limits.ts` has the limits that a deployment sets.
 */

/** The default for the nesting depth of arrays and objects (contract, "Numbers"). */
export const DEFAULT_MAX_DEPTH = 64;

/**
 * The nesting depth up to which recursive functions process a document. Deeper documents are read and written with an
 * explicit stack, and diffed as a whole. A deployment may accept documents of depth 512, and an envelope's `diff` adds
 * some levels. A thread's stack has room for several times this depth.
 */
export const MAX_RECURSION = 640;

/** Further problems would not help the caller, and the response stays small. */
export const MAX_PROBLEMS = 100;

/** Characters of a JSON Pointer in a message or a detail. Longer pointers are not readable. */
export const MAX_POINTER_SHOWN = 256;

/** Limits for the size of a patched document and for the work that a patch causes. */
export interface PatchLimits {
  /** The maximum nesting depth of arrays and objects where the patch adds or moves something. */
  maxDepth: number;
  /**
   * How much all `copy` operations together may copy: each value counts one, and so does each character of keys and
   * strings.
   */
  maxCopied: number;
  /** How many array elements all operations together may shift by inserting and removing. */
  maxShifted: number;
}

/**
 * `maxCopied`: copies can add about as much as the largest request body (1 MiB) holds. `maxShifted`: about 50 ms, or a
 * thousand operations in the middle of an array of half a million elements.
 */
export const DEFAULT_PATCH_LIMITS: PatchLimits = {
  maxDepth: DEFAULT_MAX_DEPTH,
  maxCopied: 1_048_576,
  maxShifted: 2 ** 28,
};

/**
 * The maximum total cost of a diff's operations, in bytes, before values are replaced as a whole. An operation costs
 * its value, twice its path (which the attribution repeats) and {@link DIFF_OPERATION_COST}. The budget is four times
 * the largest request body, or about 16,000 operations, which is more than anyone reads.
 */
export const DIFF_BUDGET = 4_194_304;

/** The cost of an operation besides its value and path: its own members, sorting, counting, hashing and attribution. */
export const DIFF_OPERATION_COST = 256;

/**
 * The size of a grant's paths as JSON. An entry of the log has at most 65,535 bytes, and the audit record of a change has
 * the paths before and after it.
 */
export const MAX_GRANT_PATHS_BYTES = 20_000;

/** The size of a version's changed paths as JSON. A page of the change feed has 1,000 versions and at most 8 MiB. */
export const MAX_CHANGED_PATHS_BYTES = 4_096;
