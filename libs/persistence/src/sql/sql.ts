import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { arrayParameter, type ElementType } from './array-parameter';
import { isRetryable, isUnavailable, toDomainError } from './db-errors';

/** A statement that PostgreSQL parses and plans once a connection. `name` is unique in the process. */
export interface Statement<Row extends QueryResultRow> {
  readonly name: string;
  readonly text: string;
  /** Never set: it carries the row's type. */
  readonly row?: Row;
}

/** Every statement of the process by name: a second one of the same name would run the first one's text. */
const declared = new Map<string, string>();

/** Declares a named prepared statement and the shape of its rows. Throws when the name is taken by another text. */
export function statement<Row extends QueryResultRow>(name: string, text: string): Statement<Row> {
  if ((declared.get(name) ?? text) !== text) throw new Error(`Two statements are named ${name}`);
  declared.set(name, text);
  return { name, text };
}

/** Every declared statement, by name. */
export function declaredStatements(): ReadonlyMap<string, string> {
  return declared;
}

const MAX_TRIES = 5;

/** Runs `work` again while it fails by serialization or deadlock, at most five times; failures come out as domain errors. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || tries === MAX_TRIES) throw toDomainError(error);
    }
  }
}

/**
 * Named prepared statements over one pool. A statement outside of a transaction is a transaction of its own, so one
 * that checks and writes does both or neither.
 */
export class Sql {
  constructor(
    private readonly pool: Pool,
    private readonly observe: (statementName: string) => void = () => undefined,
  ) {}

  /** Runs one statement; serialization failures and deadlocks are retried a bounded number of times. */
  async run<Row extends QueryResultRow>(query: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    return withRetries(() => this.once(query, values));
  }

  /** Runs one statement once; failures come out as the driver gives them, for callers that read constraint names. */
  async once<Row extends QueryResultRow>(query: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    this.observe(query.name);
    return ask(this.pool, query, values);
  }

  /** Several statements in one transaction: all of them or none. `work` may run more than once. */
  async transaction<T>(work: (sql: TransactionSql) => Promise<T>): Promise<T> {
    return withRetries(async () => {
      const client = await this.pool.connect();
      let failure: unknown;
      try {
        await client.query('BEGIN');
        const result = await work(new TransactionSql(client, this.observe));
        await client.query('COMMIT');
        return result;
      } catch (error) {
        if (isUnavailable(error)) failure = error;
        else await client.query('ROLLBACK').catch((rollbackError: Error) => (failure = rollbackError));
        throw error;
      } finally {
        // A connection that is broken, or could not roll back, is not given to the next caller.
        client.release(failure !== undefined);
      }
    });
  }
}

/** Statements of one transaction, on its connection. */
export class TransactionSql {
  constructor(
    private readonly client: PoolClient,
    private readonly observe: (statementName: string) => void,
  ) {}

  async run<Row extends QueryResultRow>(query: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    this.observe(query.name);
    return ask(this.client, query, values);
  }
}

/**
 * What the driver keeps of a query lives until the next full garbage collection, once one of them has become old: each
 * holds on to the next. So that values and rows do not live as long, they are taken out of it.
 */
async function ask<Row extends QueryResultRow>(
  on: Pool | PoolClient,
  { name, text }: Statement<Row>,
  values: readonly unknown[],
): Promise<Row[]> {
  const config = { name, text, values: [...values] };
  const result = await on.query<Row>(config);
  config.values.length = 0;
  const { rows } = result;
  result.rows = [];
  return rows;
}

/** Columns of a statement's input rows, by name, with their PostgreSQL types. */
export type InputColumns = Readonly<Record<string, ElementType>>;

/** `FROM` item `i` that takes one array parameter a column, and numbers its rows in `i.ord`. */
export function inputRows(columns: InputColumns): string {
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS i(${Object.keys(columns).join(', ')}, ord)`;
}

/** The array parameters of {@link inputRows}, from rows that are keyed by column name. */
export function inputArrays<Columns extends InputColumns>(
  columns: Columns,
  rows: readonly Readonly<Record<keyof Columns & string, unknown>>[],
): Buffer[] {
  return Object.entries(columns).map(([column, type]) =>
    arrayParameter(
      type,
      rows.map((row) => row[column]),
    ),
  );
}
