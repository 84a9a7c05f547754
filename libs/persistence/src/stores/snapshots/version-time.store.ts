import { type AccessFacts, type Reader, RULES, SCOPES, type SubjectRef } from '@iss/domain';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { DISCLOSURE, FACTS, readAccess, type SubjectDisclosure } from '../facts/access-facts';
import { NAMED_SUBJECT, versionsBefore } from '../facts/joins';
import type { LineageOrder } from './snapshot-list.store';

/** `recorded` is the service's time (`created_at`), and `effective` the writer's time (`generated_at`). */
export const TIME_BASES = ['recorded', 'effective'] as const;
export type TimeBasis = (typeof TIME_BASES)[number];

/** A moment, to the millisecond. */
export interface AsOf {
  at: Date;
  basis: TimeBasis;
}

/** From one millisecond to another, both inclusive. Null for no bound. */
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

/** Returns SQL for a moment from milliseconds since 1970. */
const moment = (milliseconds: string): string => `('epoch'::timestamptz + ${milliseconds} * interval '1 millisecond')`;

const HEAD = `LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
                      ORDER BY n.snapshot_version DESC LIMIT 1) h ON true`;

const EFFECTIVE = 'effective_time(n.generated_at)';
/** Version 1 of the subject. The index by effective time does not have it. */
const FIRST = 'FROM snapshots n WHERE n.subject_key = r.subject_key AND n.snapshot_version = 1';
/** The condition of the index that has all other versions. */
const LATER = 'n.snapshot_version > 1';

type AsOfStatement = Statement<Reader & SubjectRef & { asOf: number }, VersionAsOf>;

/**
 * Declares a search for the version at a moment. It accepts any scope, because the caller checks the rule for the read of the
 * version.
 */
function asOfStatement(basis: TimeBasis, form: Form, found: string): AsOfStatement {
  return statement(
    `version_as_of_${basis}_${form}`,
    `SELECT ${FACTS},
  ${DISCLOSURE[form]},
  h.version AS "headVersion", nullif(v.passed, 0) AS "version", first.at AS "firstAt"
  FROM ${inputRow({ ...ACTOR, ...SUBJECT, as_of: 'bigint' })}
  ${NAMED_SUBJECT}
  ${readAccess(form, { ...RULES.readLatestAsOf, subject: SCOPES }, { grantedBy: RULES.readLatestAsOf.subject })}
  ${HEAD}
  ${found}`,
  );
}

const ENDING = moment('(i.as_of + 1)');
const RECORDED = `${versionsBefore('r.subject_key', 'h.version', ENDING, 'v')}
  LEFT JOIN LATERAL (SELECT n.created_at AS at ${FIRST} AND v.passed = 0 LIMIT 1) first ON true`;
/** Ignores the order of the versions. If several have the same time, it returns the highest. */
const BY_EFFECTIVE_TIME = `
  LEFT JOIN LATERAL (
    SELECT n.snapshot_version AS passed
      FROM ((SELECT n.snapshot_version, ${EFFECTIVE} AS at FROM snapshots n
              WHERE (n.subject_key, ${EFFECTIVE}) < (r.subject_key, ${ENDING})
                AND n.subject_key >= r.subject_key AND ${LATER}
              ORDER BY n.subject_key DESC, ${EFFECTIVE} DESC, n.snapshot_version DESC LIMIT 1)
             UNION ALL
            (SELECT n.snapshot_version, ${EFFECTIVE} ${FIRST} AND ${EFFECTIVE} < ${ENDING} LIMIT 1)) n
     ORDER BY n.at DESC, n.snapshot_version DESC LIMIT 1
  ) v ON true
  LEFT JOIN LATERAL (
    SELECT min(n.at) AS at
      FROM ((SELECT ${EFFECTIVE} AS at FROM snapshots n
              WHERE (n.subject_key, ${EFFECTIVE}) > (r.subject_key, '-infinity')
                AND n.subject_key <= r.subject_key AND ${LATER}
              ORDER BY n.subject_key, ${EFFECTIVE}, n.snapshot_version LIMIT 1)
             UNION ALL
            (SELECT ${EFFECTIVE} ${FIRST} LIMIT 1)) n
     WHERE v.passed IS NULL
  ) first ON true`;

const AS_OF: Record<TimeBasis, Record<Form, AsOfStatement>> = {
  recorded: {
    tenant: asOfStatement('recorded', 'tenant', RECORDED),
    global: asOfStatement('recorded', 'global', RECORDED),
  },
  effective: {
    tenant: asOfStatement('effective', 'tenant', BY_EFFECTIVE_TIME),
    global: asOfStatement('effective', 'global', BY_EFFECTIVE_TIME),
  },
};

/** A window in milliseconds since 1970, with `from` inclusive and `ending` exclusive. */
interface Bounds {
  from: number | null;
  ending: number | null;
}
const SINCE = `coalesce(${moment(':from::bigint')}, '-infinity')`;
const UNTIL = `coalesce(${moment(':ending::bigint')}, 'infinity')`;

type RecordedStatement = Statement<
  Reader & SubjectRef & Bounds,
  { facts: AccessFacts; headVersion: number | null; before: number | null; passed: number | null }
>;

function recordedStatement(form: Form): RecordedStatement {
  return statement(
    `versions_recorded_within_${form}`,
    `SELECT ${FACTS},
  h.version AS "headVersion", b.passed AS "before", v.passed AS "passed"
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${readAccess(form, RULES.readLineage)}
  ${HEAD}
  ${versionsBefore('r.subject_key', 'h.version', SINCE, 'b')}
  ${versionsBefore('r.subject_key', 'h.version', UNTIL, 'v')}`,
  );
}

const RECORDED_WITHIN = { tenant: recordedStatement('tenant'), global: recordedStatement('global') };

type EffectiveStatement = Statement<
  Reader & SubjectRef & Bounds & { after: number | null; limit: number },
  { facts: AccessFacts; headVersion: number | null; version: number | null }
>;

/** Declares a list by time and then version, after the version `after`, whose own time determines the place. */
function effectiveStatement(order: LineageOrder, form: Form): EffectiveStatement {
  const direction = order === 'asc' ? 'ASC' : 'DESC';
  const [compare, start] = order === 'asc' ? ['>', SINCE] : ['<', UNTIL];
  const place = (subject: string): string => `(${subject}coalesce(last.at, ${start}), coalesce(:after::int, 0))`;
  return statement(
    `versions_effective_within_${order}_${form}`,
    `SELECT ${FACTS},
  h.version AS "headVersion", v.snapshot_version AS "version"
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${readAccess(form, RULES.readLineage)}
  ${HEAD}
  LEFT JOIN LATERAL (SELECT ${EFFECTIVE} AS at FROM snapshots n
                      WHERE n.subject_key = r.subject_key AND n.snapshot_version = :after::int LIMIT 1) last ON true
  LEFT JOIN LATERAL (
    SELECT n.snapshot_version, n.at
      FROM ((SELECT n.snapshot_version, ${EFFECTIVE} AS at FROM snapshots n
              WHERE (n.subject_key, ${EFFECTIVE}, n.snapshot_version) ${compare} ${place('r.subject_key, ')}
                AND (n.subject_key, ${EFFECTIVE}) >= (r.subject_key, ${SINCE})
                AND (n.subject_key, ${EFFECTIVE}) < (r.subject_key, ${UNTIL}) AND ${LATER}
              ORDER BY n.subject_key ${direction}, ${EFFECTIVE} ${direction}, n.snapshot_version ${direction} LIMIT :limit)
             UNION ALL
            (SELECT n.snapshot_version, ${EFFECTIVE} ${FIRST}
                AND ${EFFECTIVE} >= ${SINCE} AND ${EFFECTIVE} < ${UNTIL}
                AND (${EFFECTIVE}, n.snapshot_version) ${compare} ${place('')} LIMIT 1)) n
     ORDER BY n.at ${direction}, n.snapshot_version ${direction} LIMIT :limit
  ) v ON true
 ORDER BY v.at ${direction}, v.snapshot_version ${direction}`,
  );
}

const EFFECTIVE_WITHIN = {
  asc: { tenant: effectiveStatement('asc', 'tenant'), global: effectiveStatement('asc', 'global') },
  desc: { tenant: effectiveStatement('desc', 'tenant'), global: effectiveStatement('desc', 'global') },
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
