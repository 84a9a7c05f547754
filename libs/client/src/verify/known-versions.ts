import { requireMembers } from '@iss/proof';
import { VerificationError } from '../errors.ts';
import { timeText } from '../json.ts';
import { MAX_KNOWN_VERSIONS } from '../limits.ts';
import type { SubjectType } from '../types.ts';

/** The remembered facts of a version. */
export interface KnownVersion {
  readonly snapshotId: string;
  readonly envelopeHash: string;
  readonly prevHash: string | null;
  /** Storage time and effective time, in milliseconds since 1970. NaN if unknown. */
  readonly recorded: number;
  readonly effective: number;
  logIndex?: number;
}

/** A version with its subject. */
export interface VersionLink extends KnownVersion {
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  readonly version: number;
}

/**
 * Remembers seen versions, so that contradictory answers are detected. The memory lasts as long as the client.
 */
export class KnownVersions {
  readonly #versions = new Map<string, KnownVersion>();
  readonly #heads = new Map<string, number>();
  /** Versions by subject and log index. */
  readonly #places = new Map<string, number>();

  /** Returns the newest seen version; 0 if there is none. */
  headOf(subjectType: string, subjectId: string): number {
    return this.#heads.get(keyOf(subjectType, subjectId)) ?? 0;
  }

  /**
   * Remembers a version after checking that it is consistent with the known ones.
   *
   * @throws VerificationError `changed` or `chain`
   */
  note(link: VersionLink): void {
    const { subjectType, subjectId, version, snapshotId, envelopeHash, prevHash, recorded, effective } = link;
    const subject = keyOf(subjectType, subjectId);
    const place = (at: number): string => `${subject}\n${at}`;
    const where = `Version ${version} of ${subjectType} ${subjectId}`;
    const known = this.#versions.get(place(version));
    if (known !== undefined) {
      requireMembers(`${where}, seen before: it`, { ...known }, { snapshotId, envelopeHash, prevHash }, 'changed');
    }
    if ((version === 1) !== (prevHash === null)) {
      throw new VerificationError('chain', `${where} has a wrong prev_hash.`);
    }
    const pairs = [
      [version, prevHash, this.#versions.get(place(version - 1))?.envelopeHash],
      [version + 1, envelopeHash, this.#versions.get(place(version + 1))?.prevHash],
    ] as const;
    for (const [later, hash, known] of pairs) {
      if (known === undefined || known === hash) continue;
      throw new VerificationError('chain', `Version ${later} of ${subjectType} ${subjectId} has a wrong prev_hash.`);
    }
    // A version that was known without times is stored again with them.
    if (known !== undefined && (known.recorded > 0 || !(recorded > 0))) return;
    this.#versions.set(place(version), { ...known, snapshotId, envelopeHash, prevHash, recorded, effective });
    if (this.headOf(subjectType, subjectId) < version) this.#heads.set(subject, version);
    for (const map of [this.#versions, this.#heads]) forgetOldest(map);
  }

  /** @throws VerificationError `as_of` if the version is newer than the time, or a later version that was seen existed then */
  requireNewestAt(
    { subjectType, subjectId, version }: VersionLink,
    asOf: Date | string,
    basis: 'recorded' | 'effective',
  ): void {
    const text = timeText(asOf);
    // A day means its end.
    const moment = Date.parse(text.length === 10 ? `${text}T24:00Z` : text);
    const subject = `${keyOf(subjectType, subjectId)}\n`;
    let [newest, latest] = [0, -Infinity];
    for (const [place, { [basis]: at }] of this.#versions) {
      const other = Number(place.slice(subject.length));
      const isLater = at > latest || (at === latest && other > newest);
      if (place.startsWith(subject) && at <= moment && isLater) [newest, latest] = [other, at];
    }
    if (newest !== version) throw new VerificationError('as_of', `Version ${version} was not the newest at ${text}.`);
  }

  /** Remembers the log index of a version. @throws VerificationError `logged_twice`, `not_in_log` */
  noteEntry({ subjectType, subjectId, version }: VersionLink, logIndex: number): void {
    const subject = keyOf(subjectType, subjectId);
    const place = `${subject}\n${logIndex}`;
    requireMembers(`Entry ${logIndex}`, { version: this.#places.get(place) ?? version }, { version });
    this.#places.set(place, version);
    forgetOldest(this.#places);
    const known = this.#versions.get(`${subject}\n${version}`);
    if (known === undefined) return;
    known.logIndex ??= logIndex;
    requireMembers(`Version ${version}`, { ...known }, { logIndex }, 'logged_twice');
  }
}

/** The separator is safe, because ids contain no control characters. */
function keyOf(subjectType: string, subjectId: string): string {
  return `${subjectType}\n${subjectId}`;
}

function forgetOldest(map: Map<string, unknown>): void {
  if (map.size <= MAX_KNOWN_VERSIONS) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
