/**
 * How the columns of a statement make its rows. A column called `grant.grantId` is the member `grantId` of the row's
 * member `grant`; with `grant?.grantId`, `grant` is null where the first column under it is: that is what a left join
 * gives where it finds nothing.
 */
export interface RowShape {
  /** All members, null: a copy of it has them in one order, which is what makes such objects cheap. */
  readonly template: Readonly<Record<string, unknown>>;
  readonly columns: { readonly member: string; readonly index: number }[];
  readonly groups: { readonly member: string; readonly shape: RowShape; readonly presence: number | null }[];
}

/** The shape of rows with these column names, in their order. */
export function rowShape(names: readonly string[]): RowShape {
  const paths = names.map((name, index) => ({ path: name.split('.'), index }));
  return shapeOf(paths);
}

interface Column {
  readonly path: readonly string[];
  readonly index: number;
}

function shapeOf(columns: readonly Column[]): RowShape {
  const own = columns.filter(({ path }) => path.length === 1);
  const groups = new Map<string, Column[]>();
  for (const { path, index } of columns) {
    const [group = '', ...rest] = path;
    if (rest.length > 0) groups.set(group, [...(groups.get(group) ?? []), { path: rest, index }]);
  }
  const members = columns.map(({ path: [member = ''] }) => member.replace('?', ''));
  return {
    template: Object.fromEntries(members.map((member) => [member, null])),
    columns: own.map(({ path: [member = ''], index }) => ({ member, index })),
    groups: [...groups].map(([group, within]) => ({
      member: group.replace('?', ''),
      shape: shapeOf(within),
      presence: group.endsWith('?') ? (within[0]?.index ?? null) : null,
    })),
  };
}

/** The row that these values of its columns make. */
export function rowOf({ template, columns, groups }: RowShape, values: readonly unknown[]): Record<string, unknown> {
  const row = { ...template };
  for (const { member, index } of columns) row[member] = values[index];
  for (const { member, shape, presence } of groups) {
    if (presence === null || values[presence] !== null) row[member] = rowOf(shape, values);
  }
  return row;
}
