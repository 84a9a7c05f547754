import { type CapName, CAPS } from '@iss/platform';

/**
 * Returns a cap of this tenant or principal as SQL: the operator's value, or the parameter of the cap's name by default. The
 * statement that counts reads it, so a change takes effect immediately.
 */
export const capOf = (name: CapName, id: string): string => `coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = '${CAPS[name].scope}' AND l.scope_id = ${id} AND l.limit_name = '${name}' LIMIT 1), :${name}::int)`;

/** Returns SQL that counts at most `most` rows and then stops. `rows` is a query without SELECT, from FROM on. */
export const countUpTo = (most: string, rows: string): string =>
  `(SELECT count(*)::int FROM (SELECT ${rows} LIMIT ${most}) counted)`;
