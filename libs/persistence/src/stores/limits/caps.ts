import { type CapName, CAPS } from '@iss/platform';

/**
 * A cap of this tenant or principal, as SQL: the operator's value where there is one, else the parameter of the cap's
 * name. It is read by the statement that counts, so that a change acts at once.
 */
export const capOf = (name: CapName, id: string): string => `coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = '${CAPS[name].scope}' AND l.scope_id = ${id} AND l.limit_name = '${name}' LIMIT 1), :${name}::int)`;

/** How many rows there are, or this many: no more are looked at. `rows` is a query from FROM on. */
export const countUpTo = (most: string, rows: string): string =>
  `(SELECT count(*)::int FROM (SELECT ${rows} LIMIT ${most}) counted)`;
