import { leafHash, type TreeHead, verifyInclusion } from '@iss/tlog';
import { MapError } from './errors';
import { keyOfOutput, vrfInput } from './key';
import { newestOfLadder } from './ladder';
import { parseMapRootEntry } from './map-root';
import { requireIndexes } from './tree/indexes';
import { valueOf, type MapLeaf } from './tree/hashes';
import { type PathLevel, verifyPath } from './tree/path';
import type { VrfGroup } from './vrf/group';
import { vrfVerify } from './vrf/vrf';

/** The proof that the key of a number is in the map with these log indexes, or is not in it (no log indexes). */
export interface LookUp {
  readonly number: number;
  readonly vrfProof: Uint8Array;
  readonly logIndexes: readonly number[];
  readonly levels: readonly PathLevel[];
  /** The leaf to which the bits of an absent key lead. Null for a present key and in the empty map. */
  readonly other: MapLeaf | null;
}

/** A whole proof about one stream, as in the member `map` of answers. */
export interface MapProof {
  readonly checkpoint: string;
  readonly mapRoot: { readonly logIndex: number; readonly entry: string; readonly inclusion: readonly Uint8Array[] };
  readonly lookUps: readonly LookUp[];
}

/** The keys and the log that a proof must fit. `tree` is the log's tree by the proof's checkpoint, which the caller has verified. */
export interface MapTrust {
  readonly group: VrfGroup;
  readonly publicKey: Uint8Array;
  readonly origin: string;
  readonly tree: TreeHead;
}

/** The key of a number, and the log index of its entry. */
export interface NumberInLog {
  readonly key: Uint8Array;
  readonly logIndex: number;
}

/** The newest number of a stream, its key, and the log index of its entry. The number 0 without a head says that the stream is empty. */
export interface Newest {
  readonly number: number;
  readonly head: NumberInLog | null;
}

/**
 * Verifies that the last leaf of the log is the proof's root of the map, and returns the root.
 *
 * @throws MapError `root_refused` or `malformed`; TlogError if the inclusion proof does not hold
 */
export function verifyMapRoot(tree: TreeHead, { mapRoot }: Pick<MapProof, 'mapRoot'>): Uint8Array {
  const { covers, root } = parseMapRootEntry(mapRoot.entry);
  if (covers !== tree.size - 1 || mapRoot.logIndex !== covers) {
    throw new MapError('root_refused', `The map's root covers the log to ${covers}, not to ${tree.size - 1}, its end.`);
  }
  verifyInclusion(leafHash(mapRoot.entry), covers, tree, mapRoot.inclusion);
  return root;
}

/**
 * Verifies one look-up: first the VRF, then the path. Returns the key.
 *
 * @throws MapError
 */
export function verifyLookUp(trust: MapTrust, root: Uint8Array, stream: string, lookUp: LookUp): Uint8Array {
  const { logIndexes, levels, other } = lookUp;
  const input = vrfInput(trust.origin, stream, lookUp.number);
  const key = keyOfOutput(vrfVerify(trust.group, trust.publicKey, input, lookUp.vrfProof));
  if (logIndexes.length === 0) {
    verifyPath(root, key, null, { leaf: other, levels });
    return key;
  }
  if (other !== null) throw new MapError('path_refused', 'The look-up of a present key contains another leaf.');
  requireIndexes(logIndexes, trust.tree.size - 2);
  const value = valueOf(logIndexes);
  verifyPath(root, key, value, { leaf: { key, value }, levels });
  return key;
}

/**
 * Verifies that a number is the newest of its stream among the first `asOfSize` entries of the log (default: all that
 * the checkpoint covers), and returns it. Refuses an older size if the numbers were not logged in their order.
 *
 * @throws MapError, or TlogError if the inclusion proof does not hold
 */
export function verifyNewest(trust: MapTrust, stream: string, proof: MapProof, asOfSize = trust.tree.size): Newest {
  if (!Number.isSafeInteger(asOfSize) || asOfSize < 0 || asOfSize > trust.tree.size) {
    throw new MapError(
      'out_of_range',
      `The size ${asOfSize} is not from 0 to ${trust.tree.size}, the size of the log.`,
    );
  }
  const root = verifyMapRoot(trust.tree, proof);
  const heads = new Map<number, NumberInLog>();
  const rungs = proof.lookUps.map((lookUp) => {
    const { number } = lookUp;
    const found = numberInLog(trust, root, stream, lookUp);
    if (found !== null) heads.set(number, found);
    return { number, isPresent: found !== null && found.logIndex < asOfSize };
  });
  // An imported version may be logged before its previous one. That hides nothing at the whole size, but "n was the newest" does
  // not follow for an older one.
  if (asOfSize < trust.tree.size) {
    requireAscending(new Map([...heads].map(([number, { logIndex }]) => [number, logIndex])));
  }
  const number = newestOfLadder(rungs);
  return { number, head: heads.get(number) ?? null };
}

/** Verifies one look-up. Returns null for an absent number. @throws MapError `doubled` for a number in two entries */
function numberInLog(trust: MapTrust, root: Uint8Array, stream: string, lookUp: LookUp): NumberInLog | null {
  const key = verifyLookUp(trust, root, stream, lookUp);
  const [first, second] = lookUp.logIndexes;
  if (second === undefined) return first === undefined ? null : { key, logIndex: first };
  throw new MapError('doubled', `Number ${lookUp.number} is in two log entries, ${first} and ${second}.`);
}

/**
 * Verifies that the map has these numbers of a stream, each in one entry. Returns their places, in their order.
 *
 * @throws MapError, or TlogError if the inclusion proof of the root does not hold
 */
export function verifyNumbers(
  trust: MapTrust,
  stream: string,
  proof: Pick<MapProof, 'mapRoot'>,
  lookUps: readonly LookUp[],
): NumberInLog[] {
  const root = verifyMapRoot(trust.tree, proof);
  return lookUps.map((lookUp) => {
    const found = numberInLog(trust, root, stream, lookUp);
    if (found !== null) return found;
    throw new MapError('path_refused', `Number ${lookUp.number} is not in the map.`);
  });
}

/**
 * Verifies that a stream lacks a number, and has all lower numbers. The number 1 says that the stream is empty.
 *
 * @throws MapError `ladder_refused` if another number is the newest; else as `verifyNewest`
 */
export function verifyAbsence(trust: MapTrust, stream: string, number: number, proof: MapProof): void {
  const newest = verifyNewest(trust, stream, proof).number;
  if (newest + 1 === number) return;
  throw new MapError('ladder_refused', `The newest number is ${newest}, so ${number} is not the next one.`);
}

/**
 * Checks the log indexes of numbers, without which "was the newest" does not follow for an older size.
 *
 * @throws MapError `ladder_refused` if a higher number has a lower log index
 */
export function requireAscending(indexes: ReadonlyMap<number, number>): void {
  const sorted = [...indexes].sort(([one], [other]) => one - other);
  sorted.forEach(([number, index], at) => {
    const previous = sorted[at - 1];
    if (previous !== undefined && previous[1] >= index) {
      throw new MapError('ladder_refused', `Number ${number} was logged before number ${previous[0]}.`);
    }
  });
}
