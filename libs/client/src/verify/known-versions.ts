import { VerificationError } from '../errors.ts';
import { MAX_KNOWN_VERSIONS } from '../limits.ts';
import type { SubjectType } from '../types.ts';

/** What is remembered of a version. */
export interface KnownVersion {
  readonly snapshotId: string;
  readonly envelopeHash: string;
  readonly prevHash: string | null;
}

/** A version and whose it is. */
export interface Link extends KnownVersion {
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  readonly version: number;
}

/**
 * The versions that were seen, so that no answer can contradict an earlier one unnoticed. It remembers as long as it lives;
 * beyond that the log does.
 */
export class KnownVersions {
  private readonly versions = new Map<string, KnownVersion>();
  private readonly heads = new Map<string, number>();

  /** The newest version that was seen; 0: none. */
  headOf(subjectType: string, subjectId: string): number {
    return this.heads.get(keyOf(subjectType, subjectId)) ?? 0;
  }

  /**
   * Takes note of a version, if it fits all that is known.
   *
   * @throws VerificationError `changed` or `chain`
   */
  note(link: Link): void {
    const { subjectType, subjectId, version, snapshotId, envelopeHash, prevHash } = link;
    const subject = keyOf(subjectType, subjectId);
    const place = (at: number): string => `${subject}\n${at}`;
    const where = `Version ${version} of ${subjectType} ${subjectId}`;
    const known = this.versions.get(place(version));
    if (known !== undefined && !isSame(known, link)) {
      throw new VerificationError(
        'changed',
        `${where} was another one before: ${known.snapshotId} with the hash ${known.envelopeHash}, now ${snapshotId} with ${envelopeHash}.`,
      );
    }
    if (version === 1 ? prevHash !== null : prevHash === null) {
      const what = version === 1 ? 'names a version before it' : 'names no version before it';
      throw new VerificationError('chain', `${where} ${what}.`);
    }
    const parent = this.versions.get(place(version - 1));
    if (parent !== undefined && parent.envelopeHash !== prevHash) {
      throw new VerificationError('chain', `${where} does not follow version ${version - 1} as it was seen.`);
    }
    const child = this.versions.get(place(version + 1));
    if (child !== undefined && child.prevHash !== envelopeHash) {
      throw new VerificationError('chain', `${where} is not the one that version ${version + 1} follows.`);
    }
    if (known !== undefined) return;
    this.versions.set(place(version), { snapshotId, envelopeHash, prevHash });
    if (this.headOf(subjectType, subjectId) < version) this.heads.set(subject, version);
    for (const map of [this.versions, this.heads]) forgetOldest(map);
  }
}

function isSame(one: KnownVersion, other: KnownVersion): boolean {
  return (
    one.snapshotId === other.snapshotId && one.envelopeHash === other.envelopeHash && one.prevHash === other.prevHash
  );
}

/** Ids hold no control characters. */
function keyOf(subjectType: string, subjectId: string): string {
  return `${subjectType}\n${subjectId}`;
}

function forgetOldest(map: Map<string, unknown>): void {
  if (map.size <= MAX_KNOWN_VERSIONS) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
