/** An SQL expression for each member of a record. */
export type Columns<Row> = { readonly [Member in keyof Row]: string };

/**
 * The columns as a list for SELECT or RETURNING. With a group, `grant` or `grant?`, they are the members of that member
 * of the row ({@link RowShape}); a group that may be missing begins with a column that is never null where it is there.
 */
export function columns(of: Readonly<Record<string, string>>, group?: string): string {
  const prefix = group === undefined ? '' : `${group}.`;
  return Object.entries(of)
    .map(([member, expression]) => `${expression} AS "${prefix}${member}"`)
    .join(',\n  ');
}
