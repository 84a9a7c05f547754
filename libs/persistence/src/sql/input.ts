import type { ElementType } from './array-parameter';

/** Columns of a statement's input `i`, with their types: `tenant_id` is the parameter `tenantId`. */
export type InputColumns = Readonly<Record<string, ElementType>>;

/** An actor's columns, for {@link inputRow} and {@link inputRows}. */
export const ACTOR = { tenant_id: 'text', principal_id: 'text' } as const satisfies InputColumns;
/** A subject's columns. */
export const SUBJECT = { subject_type: 'text', subject_id: 'text' } as const satisfies InputColumns;

/** `FROM` item `i`: one row, each column from the parameter of its name. */
export function inputRow(columns: InputColumns): string {
  const values = Object.entries(columns).map(([column, type]) => `:${parameterOf(column)}::${type} AS ${column}`);
  return `(SELECT ${values.join(', ')}) i`;
}

/** `FROM` item `i`: a row for each object in the parameter `inputs`, each column from its member, numbered in `i.ord`. */
export function inputRows(columns: InputColumns): string {
  const arrays = Object.entries(columns).map(([column, type]) => `:inputs.${parameterOf(column)}::${type}[]`);
  return `unnest(${arrays.join(', ')})
    WITH ORDINALITY AS i(${Object.keys(columns).join(', ')}, ord)`;
}

function parameterOf(column: string): string {
  return column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
