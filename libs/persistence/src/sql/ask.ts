import { telemetry } from '@iss/platform';
import type { ClientBase, Pool } from 'pg';
import { rowOf, type RowShape, rowShape } from './row-shape';
import { type Statement, valuesOf } from './statement';

/** Row shapes of statements. The columns of a statement never change, so its first result defines the shape. */
const shapes = new WeakMap<object, RowShape>();

/**
 * Runs a statement and returns its rows. Errors are those of the driver.
 *
 * It removes values and rows from the driver's objects. The driver links each query to the next one, so after one of them is old,
 * all survive until the next full garbage collection.
 */
export function ask<Parameters extends object, Row extends object>(
  on: Pool | ClientBase,
  query: Statement<Parameters, Row>,
  parameters: Parameters,
): Promise<Row[]> {
  const { tracer } = telemetry;
  return tracer === null
    ? send(on, query, parameters)
    : tracer.statement(query.name, () => send(on, query, parameters));
}

async function send<Parameters extends object, Row extends object>(
  on: Pool | ClientBase,
  query: Statement<Parameters, Row>,
  parameters: Parameters,
): Promise<Row[]> {
  const { name, text } = query;
  const config = { name, text, values: valuesOf(query, parameters), rowMode: 'array' as const };
  const result = await on.query<unknown[]>(config);
  config.values.length = 0;
  const { rows } = result;
  result.rows = [];
  let shape = shapes.get(query);
  if (shape === undefined) {
    shape = rowShape(result.fields.map((field) => field.name));
    shapes.set(query, shape);
  }
  const known = shape;
  // Tests check that the rows are what the statement declares, as with the driver's own type parameter.
  return rows.map((values) => rowOf(known, values) as Row);
}
