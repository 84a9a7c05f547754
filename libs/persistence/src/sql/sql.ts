import type { ClientBase, Pool } from 'pg';
import type { Replica } from '../replica';
import { ask } from './ask';
import { isRetryable, isUnavailable, toDomainError } from './db-errors';
import type { LoneStatements } from './lone-statements';
import type { Statement } from './statement';

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

/** Where statements of several requests run, and where those of them that must not share one. */
export interface Sharing {
  /** On connections of their own, which give a statement up soon. */
  readonly sql: Sql;
  readonly lone: LoneStatements;
}

/**
 * Named prepared statements over one pool. A statement outside of a transaction is a transaction of its own, so one
 * that checks and writes does both or neither.
 */
export class Sql {
  constructor(
    private readonly pool: Pool,
    private readonly observe: (statementName: string) => void,
    private readonly shared: Sharing | null = null,
    /** A copy for reads that may be late. */
    readonly replica: Replica | null = null,
  ) {}

  /** Throws where this is what statements share already. */
  get sharing(): Sharing {
    if (this.shared === null) throw new Error('these connections are shared themselves');
    return this.shared;
  }

  /** The statement's rows; serialization failures and deadlocks are retried a bounded number of times. */
  async run<Parameters extends object, Row extends object>(
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row[]> {
    return withRetries(() => {
      this.observe(query.name);
      return ask(this.pool, query, parameters);
    });
  }

  /** The first row of a statement that has one in any case. */
  async one<Parameters extends object, Row extends object>(
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row> {
    return firstOf(query, await this.run(query, parameters));
  }

  /**
   * The same for a statement that may read much: of one owner fewer run at once than there are connections, so that
   * nobody's keep all others waiting.
   */
  runInTurn<Parameters extends object, Row extends object>(
    whose: string,
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row[]> {
    return this.sharing.lone.run(whose, () => this.run(query, parameters));
  }

  /** Several statements in one transaction: all of them or none. `work` may run more than once. */
  async transaction<T>(work: (sql: TransactionSql) => Promise<T>): Promise<T> {
    return withRetries(async () => {
      const client = await this.pool.connect();
      let failure: unknown;
      // Lost between two statements: the next one is told. Without a listener it would end the process.
      const lost = (error: Error): void => void (failure = error);
      client.on('error', lost);
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
        client.off('error', lost);
        // A connection that is broken, or could not roll back, is not given to the next caller.
        client.release(failure !== undefined);
      }
    });
  }
}

/** Statements on one connection, as in a transaction. */
export class TransactionSql {
  constructor(
    private readonly client: ClientBase,
    private readonly observe: (statementName: string) => void = () => undefined,
  ) {}

  async run<Parameters extends object, Row extends object>(
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row[]> {
    this.observe(query.name);
    return ask(this.client, query, parameters);
  }

  /** The first row of a statement that has one in any case. */
  async one<Parameters extends object, Row extends object>(
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row> {
    return firstOf(query, await this.run(query, parameters));
  }
}

function firstOf<Row extends object>({ name }: Statement<never, Row>, [row]: readonly Row[]): Row {
  if (row === undefined) throw new Error(`${name} answered no row`);
  return row;
}
