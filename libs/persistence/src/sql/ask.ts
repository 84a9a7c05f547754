import { telemetry } from '@iss/platform';
import type { ClientBase, Pool } from 'pg';
import { rowOf, type RowShape, rowShape } from './row-shape';
import { type Statement, valuesOf } from './statement';

/** What a statement's rows look like never changes; its first result tells. */
const shapes = new Map<string, RowShape>();

/**
 * The rows of a statement; failures are the driver's own.
 *
 * What the driver keeps of a query lives until the next full garbage collection, once one of them has become old: each
 * holds on to the next. So that values and rows do not live as long, they are taken out of it.
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
  let shape = shapes.get(name);
  if (shape === undefined) {
    shape = rowShape(result.fields.map((field) => field.name));
    shapes.set(name, shape);
  }
  const known = shape;
  // That its rows are what it declares is held by tests, as with the driver's own type parameter.
  return rows.map((values) => rowOf(known, values) as Row);
}
