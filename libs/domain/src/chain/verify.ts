import { sameUuid } from '../envelope/formats';
import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { isJsonObject, type JsonValue } from '../json/value';
import { HASH_ALGORITHM, hashText } from './seal';

/** A snapshot as its row holds it. `envelopeHash` is null where an import left it out, the text where it was erased. */
export interface StoredSnapshot {
  snapshotId: string;
  snapshotVersion: number;
  envelopeText: string | null;
  envelopeHash: string | null;
  prevHash: string | null;
}

export const VERIFY_MODES = ['none', 'hash', 'chain'] as const;
export type VerifyMode = (typeof VERIFY_MODES)[number];

/** Contract row `verification`. `valid` is null for what the mode did not look at or had nothing to compare with. */
export interface Verification {
  mode: 'hash' | 'chain';
  /** False where an import left the snapshot unhashed: there is no chain through it yet. */
  chain_supported: boolean;
  hash: HashVerification & { alg: typeof HASH_ALGORITHM };
  /** `depth` is the number of links that were followed; `complete`, whether they reach version 1. */
  chain: ChainVerification;
}
export interface ChainVerification {
  prev_hash: string | null;
  valid: boolean | null;
  depth: number;
  complete: boolean | null;
  /** Versions that were walked and had been erased: their links hold or not, their texts are gone. Absent where none was. */
  erased?: number[];
}
export interface HashVerification {
  /** What the stored envelope hashes to now; null when it is no JSON any more, or was erased. */
  value: string | null;
  stored: string | null;
  valid: boolean | null;
}
export interface DiffVerification {
  mode: 'hash' | 'chain';
  chain_supported: boolean;
  hash: { alg: typeof HASH_ALGORITHM; from: HashVerification; to: HashVerification };
  chain: ChainVerification & { from: ChainVerification; to: ChainVerification };
}

/** What a check found of a snapshot's text, and its links: enough to walk a chain without keeping the texts. */
export interface CheckedLink {
  snapshotVersion: number;
  envelopeHash: string | null;
  prevHash: string | null;
  /** Whether the text is the one that was sealed; null where no hash was stored, and where the text was erased. */
  valid: boolean | null;
  isErased: boolean;
}
/** The same with the hash that was computed anew. */
export interface CheckedSnapshot extends CheckedLink {
  hash: HashVerification;
}

/**
 * Recomputes from stored rows what their writer claims; trusts nothing that was stored beside the text.
 *
 * A hash is valid when the stored text is canonical (RFC 8785), names the row's own id and version, and its SHA-256 is
 * the stored one. A chain is valid when that is so for the snapshot and each parent walked, versions have no gap, each
 * `prev_hash` is the parent's `envelope_hash`, and version 1 has none. Of an erased one its links alone are looked at.
 *
 * @param parents the preceding snapshots, newest first; only looked at in the mode `chain`.
 * @param depth the links to follow, ≥ 1. Fewer parents than that are a gap, unless they reach version 1.
 */
export function verifySnapshot(
  mode: 'hash' | 'chain',
  snapshot: StoredSnapshot,
  parents: readonly StoredSnapshot[],
  depth = Math.max(1, parents.length),
): Verification {
  return verifyChecked(mode, checkSnapshot(snapshot), mode === 'chain' ? parents.map(checkLink) : [], depth);
}

/** {@link verifySnapshot} for what was checked before. */
export function verifyChecked(
  mode: 'hash' | 'chain',
  snapshot: CheckedSnapshot,
  parents: readonly CheckedLink[],
  depth: number,
): Verification {
  const chain = { prev_hash: snapshot.prevHash, valid: null, depth: 0, complete: null };
  return {
    mode,
    chain_supported: snapshot.envelopeHash !== null,
    hash: { alg: HASH_ALGORITHM, ...snapshot.hash },
    chain: mode === 'hash' ? chain : { ...chain, ...walkChain(snapshot, parents, depth) },
  };
}

/** Checks a snapshot's own text and hash in full. */
export function checkSnapshot(snapshot: StoredSnapshot): CheckedSnapshot {
  const hash = verifyHash(snapshot);
  return { ...linkOf(snapshot), valid: hash.valid, hash };
}

/**
 * Checks a snapshot as a link of a chain, as fast as hashing: bytes that have the stored hash, to which a child's
 * `prev_hash` is compared, are those that were sealed, and are not parsed again. Whatever the quick look does not
 * confirm gets the full one.
 */
export function checkLink(snapshot: StoredSnapshot): CheckedLink {
  const { envelopeText, envelopeHash, snapshotId, snapshotVersion } = snapshot;
  const isQuicklyConfirmed =
    envelopeText !== null &&
    hashText(envelopeText) === envelopeHash &&
    envelopeText.includes(`"snapshot_id":"${snapshotId}"`) &&
    envelopeText.includes(`"snapshot_version":${snapshotVersion},`);
  return { ...linkOf(snapshot), valid: isQuicklyConfirmed || verifyHash(snapshot).valid };
}

/**
 * Follows up to `depth` links from a snapshot to its parents (newest first). `valid` is as {@link verifySnapshot} says of
 * a chain; `depth` is the number of links that were followed. `complete`: they reach version 1, so that what is valid is so
 * from the first version on.
 */
export function walkChain(
  snapshot: CheckedLink,
  parents: readonly CheckedLink[],
  depth: number,
): { valid: boolean | null; depth: number; complete: boolean; erased?: number[] } {
  let valid = ownVerdict(snapshot);
  let child = snapshot;
  const erased = snapshot.isErased ? [snapshot.snapshotVersion] : [];
  let followed = 0;
  while (followed < depth && child.snapshotVersion > 1) {
    const parent = parents[followed];
    if (parent === undefined || parent.snapshotVersion !== child.snapshotVersion - 1) {
      return { valid: false, depth: followed, complete: false, ...unlessNone(erased) };
    }
    valid = allValid([valid, linkHolds(child, parent), ownVerdict(parent)]);
    if (parent.isErased) erased.push(parent.snapshotVersion);
    child = parent;
    followed++;
  }
  const complete = child.snapshotVersion === 1;
  if (complete) valid = allValid([valid, child.prevHash === null]);
  return { valid, depth: followed, complete, ...unlessNone(erased) };
}

/** Of what was erased on purpose nothing is left to hold against its hash: its links decide. */
function ownVerdict({ valid, isErased }: CheckedLink): boolean | null {
  return isErased ? true : valid;
}

function unlessNone(erased: number[]): { erased?: number[] } {
  return erased.length === 0 ? {} : { erased };
}

/** One verdict from several: false wins over null (unknown), null over true. */
export function allValid(verdicts: readonly (boolean | null)[]): boolean | null {
  if (verdicts.includes(false)) return false;
  return verdicts.includes(null) ? null : true;
}

/** The verification of a diff, from those of its two snapshots: `chain` is that of `to`, and both must hold and be complete. */
export function verificationOfDiff(from: Verification, to: Verification): DiffVerification {
  return {
    mode: to.mode,
    chain_supported: from.chain_supported && to.chain_supported,
    hash: { alg: HASH_ALGORITHM, from: figures(from.hash), to: figures(to.hash) },
    chain: {
      ...to.chain,
      valid: allValid([from.chain.valid, to.chain.valid]),
      complete: allValid([from.chain.complete, to.chain.complete]),
      from: from.chain,
      to: to.chain,
    },
  };
}

function figures({ value, stored, valid }: HashVerification): HashVerification {
  return { value, stored, valid };
}

function verifyHash(snapshot: StoredSnapshot): HashVerification {
  const stored = snapshot.envelopeHash;
  if (snapshot.envelopeText === null) return { value: null, stored, valid: null };
  const envelope = parse(snapshot.envelopeText);
  const canonicalText = envelope === undefined ? undefined : canonicalTextOf(envelope);
  const value = canonicalText === undefined ? null : hashText(canonicalText);
  if (stored === null) return { value, stored, valid: null };
  const isIntact = canonicalText === snapshot.envelopeText && envelope !== undefined && names(envelope, snapshot);
  return { value, stored, valid: isIntact && value === stored };
}

function linkOf({ snapshotVersion, envelopeHash, prevHash, envelopeText }: StoredSnapshot): Omit<CheckedLink, 'valid'> {
  return { snapshotVersion, envelopeHash, prevHash, isErased: envelopeText === null };
}

function linkHolds(child: CheckedLink, parent: CheckedLink): boolean | null {
  if (child.prevHash === null && parent.envelopeHash === null) return null;
  return child.prevHash === parent.envelopeHash;
}

function names(envelope: JsonValue, { snapshotId, snapshotVersion }: StoredSnapshot): boolean {
  return (
    isJsonObject(envelope) &&
    typeof envelope['snapshot_id'] === 'string' &&
    sameUuid(envelope['snapshot_id'], snapshotId) &&
    envelope['snapshot_version'] === snapshotVersion
  );
}

function parse(text: string): JsonValue | undefined {
  try {
    return parseStoredJson(text);
  } catch {
    return undefined;
  }
}

function canonicalTextOf(value: JsonValue): string | undefined {
  try {
    return canonicalize(value);
  } catch {
    return undefined;
  }
}
