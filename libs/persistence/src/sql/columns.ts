/** Maps each member of a record to an SQL expression. */
export type Columns<Row> = { readonly [Member in keyof Row]: string };

/**
 * Returns the columns as a list for SELECT or RETURNING. With a group (`grant` or `grant?`), the row gets one member of
 * that name, which contains them ({@link RowShape}). The first column of an optional group must never be null when the
 * group is present.
 */
export function columns(of: Readonly<Record<string, string>>, group?: string): string {
  const prefix = group === undefined ? '' : `${group}.`;
  return Object.entries(of)
    .map(([member, expression]) => `${expression} AS "${prefix}${member}"`)
    .join(',\n  ');
}
