import type { InputColumns } from './sql';

/**
 * The value of `column` for the input row that `ord` numbers, straight from its array parameter, whose place is the
 * column's place in `columns`. For what a statement only passes on: unnested, it would be copied with every join and sort.
 */
export function inputElement<Columns extends InputColumns>(columns: Columns, column: keyof Columns & string): string {
  return `($${Object.keys(columns).indexOf(column) + 1}::${columns[column]}[])[ord]`;
}
