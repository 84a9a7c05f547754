import { type AccessRule, DomainError, type Reader, RULES, type SubjectRef, type Visible } from '@iss/domain';
import {
  type AsOf,
  type SubjectDisclosure,
  type TimeWindow,
  VersionTimeStore,
  type WindowRange,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { notFound, ReadAccess } from '../../../access/read-access';

/** How the latest version is shown by a read of a moment. */
export interface OfLatest {
  disclosure: SubjectDisclosure | null;
  visible: Visible;
}

/** Finds the versions of a subject by time. */
@Injectable()
export class VersionTimeService {
  constructor(
    private readonly times: VersionTimeStore,
    private readonly access: ReadAccess,
  ) {}

  /**
   * Returns the version that was the newest at that moment, and the rule under which it is read, from `rightTo`. For
   * the latest version, also returns how a read under `RULES.readLatestAsOf` shows it. Throws `forbidden`, and
   * `not_found` with the time of the first version.
   */
  async asOf(
    reader: Reader,
    subject: SubjectRef,
    asOf: AsOf,
    rightTo: (which: 'latest' | 'older') => AccessRule,
  ): Promise<{ version: number; right: AccessRule; ofLatest: OfLatest | null }> {
    const { facts, disclosure, headVersion, version, firstAt } = await this.times.versionAsOf(reader, subject, asOf);
    const isLatest = version !== null && version === headVersion;
    // For a subject without versions, the rule for the latest version decides.
    const right = rightTo(isLatest || headVersion === null ? 'latest' : 'older');
    const visible = this.access.require(reader, facts, right);
    if (version !== null) return { version, right, ofLatest: isLatest ? { disclosure, visible } : null };
    throw firstAt === null ? notFound() : tooEarly(asOf, firstAt, await this.isEffective(reader, subject, asOf));
  }

  /** Returns whether `effective` times have a version at that moment although `recorded` times have none. */
  private async isEffective(reader: Reader, subject: SubjectRef, { at, basis }: AsOf): Promise<boolean> {
    if (basis === 'effective') return false;
    return (await this.times.versionAsOf(reader, subject, { at, basis: 'effective' })).version !== null;
  }

  /** Returns a part of the versions in a window, and the newest version of all. Throws like reads of the lineage. */
  async within(
    reader: Reader,
    subject: SubjectRef,
    window: TimeWindow,
    range: WindowRange,
  ): Promise<{ headVersion: number; versions: readonly number[] }> {
    const { facts, headVersion, versions } = await this.times.within(reader, subject, window, range);
    this.access.require(reader, facts, RULES.readLineage);
    if (headVersion === null) throw notFound();
    return { headVersion, versions };
  }
}

function tooEarly({ at, basis }: AsOf, firstAt: Date, isEffective: boolean): DomainError {
  const first = firstAt.toISOString();
  const member = basis === 'recorded' ? 'created_at' : 'generated_at';
  const hint = isEffective ? ' A version with an earlier generated_at exists: send basis=effective to read it.' : '';
  const message = `No version existed at ${at.toISOString()}: the ${member} of the first one is ${first}.${hint}`;
  return new DomainError('not_found', message, [
    { path: '/query/as_of', message: `must not be before ${first}`, code: 'not_found' },
  ]);
}
