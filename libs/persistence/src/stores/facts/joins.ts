import { ALL_SUBJECTS } from '@iss/domain';

/**
 * Joins from an input row `i` to a subject and its snapshots. A subquery with a limit uses all known columns in its search. In a
 * join, the planner may use a column only as a filter, and read a whole chain (`plans.int-spec.ts`).
 */

/** Joins the subject that `i` names as `s`; its columns are null if there is none. */
export const NAMED_SUBJECT = 'LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id';

/** Joins the key of the subject that `i` names as `k`: 0 for all subjects, null if there is none. */
export const NAMED_KEY = `LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '${ALL_SUBJECTS.subjectType}' THEN 0 ELSE s.subject_key END AS subject_key
                       FROM (SELECT true) one ${NAMED_SUBJECT}) k ON true`;

/** Joins the newest snapshot of the subject with this key. A null key matches none. */
export const latestSnapshot = (subjectKey: string, alias: string): string => `
  LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = ${subjectKey}
                      ORDER BY n.snapshot_version DESC LIMIT 1) ${alias} ON true`;

/** Joins one version of the subject with this key. */
export const snapshotOfVersion = (subjectKey: string, version: string, alias: string): string => `
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = ${subjectKey} AND n.snapshot_version = ${version} LIMIT 1) ${alias} ON true`;

/** Returns the newest version number of the subject with this key; null if it has none. */
export const headVersion = (subjectKey: string): string => `(SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = ${subjectKey} ORDER BY n.snapshot_version DESC LIMIT 1)`;

/**
 * Joins the number of the subject's `count` versions that were stored before a moment, as `passed`; null if there is no subject.
 * It uses binary search, because versions have no gaps and their times never decrease.
 */
export const versionsBefore = (subjectKey: string, count: string, moment: string, alias: string): string => `
  LEFT JOIN LATERAL (
    WITH RECURSIVE search (low, high) AS (
      SELECT 0::bigint, ${count}::bigint + 1
       UNION ALL
      SELECT CASE WHEN n.created_at < ${moment} THEN b.middle ELSE b.low END,
             CASE WHEN n.created_at < ${moment} THEN b.high ELSE b.middle END
        FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
       CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
                            WHERE n.subject_key = ${subjectKey} AND n.snapshot_version = b.middle LIMIT 1) n
    )
    SELECT low::int AS passed FROM search WHERE high - low = 1
  ) ${alias} ON true`;

/** Returns the origins of a version's leaves; null for a first version, and if they are unknown. */
export const originsOf = (subjectKey: string, version: string): string => `(SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = ${subjectKey} AND p.snapshot_version = ${version} LIMIT 1)`;
