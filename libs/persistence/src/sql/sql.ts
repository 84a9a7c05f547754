import type { ClientBase, Pool } from 'pg';
import type { TextArchive } from '@iss/archive';
import type { Replica } from '../replica';
import { ask } from './ask';
import { isRetryable, isUnavailable, toDomainError } from './db-errors';
import type { LoneStatements } from './lone-statements';
import type { Statement } from './statement';

const MAX_TRIES = 5;

/** Runs `work` again after a serialization failure or deadlock, at most five times in total. Throws domain errors. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || tries === MAX_TRIES) throw toDomainError(error);
    }
  }
}

/** The connections for statements that several requests share, and the queue for those that must run alone. */
export interface Sharing {
  /** Uses connections of its own, with a short statement timeout. */
  readonly sql: Sql;
  readonly lone: LoneStatements;
}

/**
 * Runs named prepared statements on one pool. A statement outside of a transaction is a transaction of its own, so one that
 * checks and writes does both or neither.
 */
export class Sql {
  constructor(
    private readonly pool: Pool,
    private readonly observe: (statementName: string) => void,
    private readonly shared: Sharing | null = null,
    /** A copy of the database, for reads that may be late. */
    readonly replica: Replica | null = null,
    /** The archive with the texts that are not in the database; null if none is configured. */
    readonly archive: TextArchive | null = null,
  ) {}

  /** Throws if this object itself uses the shared connections. */
  get sharing(): Sharing {
    if (this.shared === null) throw new Error('shared connections have no further shared connections');
    return this.shared;
  }

  /** Runs a statement and returns its rows. It retries serialization failures and deadlocks a limited number of times. */
  async run<Parameters extends object, Row extends object>(
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row[]> {
    return withRetries(() => {
      this.observe(query.name);
      return ask(this.pool, query, parameters);
    });
  }

  /** Runs a statement that always returns a row, and returns its first one. */
  async one<Parameters extends object, Row extends object>(
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row> {
    return firstOf(query, await this.run(query, parameters));
  }

  /**
   * Runs a statement that may read much, like {@link run}. Each owner has fewer of them at once than there are connections, so
   * nobody blocks all others.
   */
  runInTurn<Parameters extends object, Row extends object>(
    whose: string,
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row[]> {
    return this.sharing.lone.run(whose, () => this.run(query, parameters));
  }

  /** Runs several statements in one transaction: all of them or none. `work` may run more than once. */
  async transaction<T>(work: (sql: TransactionSql) => Promise<T>): Promise<T> {
    return withRetries(async () => {
      const client = await this.pool.connect();
      let failure: unknown;
      // The connection may be lost between two statements. The next statement then fails.
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
        // A connection that is broken or could not roll back is closed, not reused.
        client.release(failure !== undefined);
      }
    });
  }
}

/** Runs statements on one connection, for example in a transaction. */
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

  /** Runs a statement that always returns a row, and returns its first one. */
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
