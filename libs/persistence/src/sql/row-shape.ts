/**
 * How the columns of a statement become its rows. The column `grant.grantId` becomes the member `grantId` of the row's member
 * `grant`. With `grant?.grantId`, `grant` is null if the first column of the group is null, as after a left join that finds
 * nothing.
 */
export interface RowShape {
  /** All members, set to null. Copies of it have their members in one order, which keeps such objects cheap. */
  readonly template: Readonly<Record<string, unknown>>;
  readonly columns: { readonly member: string; readonly index: number }[];
  readonly groups: { readonly member: string; readonly shape: RowShape; readonly presence: number | null }[];
}

/** Returns the shape of rows whose columns have these names, in this order. */
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

/** Builds a row from the values of its columns. */
export function rowOf({ template, columns, groups }: RowShape, values: readonly unknown[]): Record<string, unknown> {
  const row = { ...template };
  for (const { member, index } of columns) row[member] = values[index];
  for (const { member, shape, presence } of groups) {
    if (presence === null || values[presence] !== null) row[member] = rowOf(shape, values);
  }
  return row;
}
