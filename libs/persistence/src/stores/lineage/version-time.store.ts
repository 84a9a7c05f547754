import { type AccessFacts, type Reader, type SubjectRef, type TimeBasis } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { type SubjectDisclosure } from '../facts/access-facts';
import type { LineageOrder } from './snapshot-list.store';

/** A moment, to the millisecond. */
export interface AsOf {
  at: Date;
  basis: TimeBasis;
}

/** A range of times, in milliseconds. Both bounds are inclusive. Null for no bound. */
export interface TimeWindow {
  basis: TimeBasis;
  from: Date | null;
  to: Date | null;
}

/** The newest version at a time, and the facts that decide whether the caller may know it. */
export interface VersionAsOf {
  facts: AccessFacts;
  /** For a read of the latest version; null for the owner, and if there is no subject. */
  disclosure: SubjectDisclosure | null;
  /** Null if the subject does not exist, or the caller has no right to it. */
  headVersion: number | null;
  /** Null if there was none yet. */
  version: number | null;
  /** The time of the first version, if there was none yet. */
  firstAt: Date | null;
}

/** The versions in a time window. */
export interface VersionsWithin {
  facts: AccessFacts;
  headVersion: number | null;
  versions: number[];
}

/** A page of the versions in a window: at most `limit`, after the version `after` in this order. */
export interface WindowRange {
  order: LineageOrder;
  after: number | null;
  limit: number;
}

type Form = 'tenant' | 'global';
const formOf = ({ tenantId }: Reader): Form => (tenantId === null ? 'global' : 'tenant');

type AsOfStatement = Statement<Reader & SubjectRef & { asOf: number }, VersionAsOf>;

const asOf = (basis: TimeBasis, form: Form): AsOfStatement => statement(`version_as_of_${basis}_${form}`);

const AS_OF: Record<TimeBasis, Record<Form, AsOfStatement>> = {
  recorded: { tenant: asOf('recorded', 'tenant'), global: asOf('recorded', 'global') },
  effective: { tenant: asOf('effective', 'tenant'), global: asOf('effective', 'global') },
};

/** A window in milliseconds since 1970, with `from` inclusive and `ending` exclusive. */
interface Bounds {
  from: number | null;
  ending: number | null;
}

type RecordedStatement = Statement<
  Reader & SubjectRef & Bounds,
  { facts: AccessFacts; headVersion: number | null; before: number | null; passed: number | null }
>;

const recordedWithin = (form: Form): RecordedStatement => statement(`versions_recorded_within_${form}`);
const RECORDED_WITHIN = { tenant: recordedWithin('tenant'), global: recordedWithin('global') };

type EffectiveStatement = Statement<
  Reader & SubjectRef & Bounds & { after: number | null; limit: number },
  { facts: AccessFacts; headVersion: number | null; version: number | null }
>;

const effectiveWithin = (order: LineageOrder, form: Form): EffectiveStatement =>
  statement(`versions_effective_within_${order}_${form}`);
const EFFECTIVE_WITHIN = {
  asc: { tenant: effectiveWithin('asc', 'tenant'), global: effectiveWithin('asc', 'global') },
  desc: { tenant: effectiveWithin('desc', 'tenant'), global: effectiveWithin('desc', 'global') },
};

/** Finds the versions of a subject by time. The cost hardly depends on the length of the chain. */
export class VersionTimeStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Returns the newest version at a moment. `recorded` considers the versions that were stored by then. `effective` returns the
   * version with the greatest `generated_at` up to then, and the highest of equals. Times have milliseconds, as in answers.
   */
  async versionAsOf(reader: Reader, subject: SubjectRef, { at, basis }: AsOf): Promise<VersionAsOf> {
    return this.sql.one(AS_OF[basis][formOf(reader)], { ...reader, ...subject, asOf: at.getTime() });
  }

  /**
   * Returns a page of the versions in a window: `recorded` in the order of versions, `effective` in the order of times and then
   * versions.
   */
  async within(
    reader: Reader,
    subject: SubjectRef,
    { basis, from, to }: TimeWindow,
    range: WindowRange,
  ): Promise<VersionsWithin> {
    const bounds = { from: from?.getTime() ?? null, ending: to === null ? null : to.getTime() + 1 };
    const given = { ...reader, ...subject, ...bounds };
    const form = formOf(reader);
    switch (basis) {
      case 'recorded': {
        const { facts, headVersion, before, passed } = await this.sql.one(RECORDED_WITHIN[form], given);
        return { facts, headVersion, versions: partOf(before ?? 0, passed ?? 0, range) };
      }
      case 'effective': {
        const { order, after, limit } = range;
        const rows = await this.sql.run(EFFECTIVE_WITHIN[order][form], { ...given, after, limit });
        const [first] = rows;
        if (first === undefined) throw new Error('versions_effective_within answered no row');
        const versions = rows.map(({ version }) => version).filter((version) => version !== null);
        return { facts: first.facts, headVersion: first.headVersion, versions };
      }
    }
  }
}

/** Returns the requested page of the versions from `before` + 1 to `last`, which have no gaps. */
function partOf(before: number, last: number, { order, after, limit }: WindowRange): number[] {
  const isAscending = order === 'asc';
  const start = isAscending ? Math.max(before, after ?? 0) + 1 : Math.min(last, (after ?? last + 1) - 1);
  const left = isAscending ? last - start + 1 : start - before;
  return Array.from({ length: Math.max(0, Math.min(left, limit)) }, (_, at) => start + (isAscending ? at : -at));
}
