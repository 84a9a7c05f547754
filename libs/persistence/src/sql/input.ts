import type { ElementType } from './array-parameter';

/** The types of the columns of a statement's input `i`, by name. The column `tenant_id` takes the parameter `tenantId`. */
export type InputColumns = Readonly<Record<string, ElementType>>;

/** The columns of an actor, for {@link inputRow} and {@link inputRows}. */
export const ACTOR = { tenant_id: 'text', principal_id: 'text' } as const satisfies InputColumns;
/** The columns of a subject. */
export const SUBJECT_COLUMNS = { subject_type: 'text', subject_id: 'text' } as const satisfies InputColumns;

/** Returns the `FROM` item `i` with one row. Each column takes the parameter of its name. */
export function inputRow(columns: InputColumns): string {
  const values = Object.entries(columns).map(([column, type]) => `:${parameterOf(column)}::${type} AS ${column}`);
  return `(SELECT ${values.join(', ')}) i`;
}

/**
 * Returns the `FROM` item `i` with one row for each object in the parameter `inputs`. Each column takes the member of its name,
 * and `i.ord` numbers the rows.
 */
export function inputRows(columns: InputColumns): string {
  const arrays = Object.entries(columns).map(([column, type]) => `:inputs.${parameterOf(column)}::${type}[]`);
  return `unnest(${arrays.join(', ')})
    WITH ORDINALITY AS i(${Object.keys(columns).join(', ')}, ord)`;
}

function parameterOf(column: string): string {
  return column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
