import { Client, DatabaseError, Query, type QueryArrayConfig } from 'pg';
import { UsageError } from '../command';

/** The columns of a row, as PostgreSQL writes them. */
export type Row = readonly (string | null)[];

/** Whether a column has a value. */
export function isText(value: string | null | undefined): value is string {
  return typeof value === 'string';
}

const CONNECT_TIMEOUT_MS = 10_000;
const AS_TEXT = { getTypeParser: () => (text: string) => text };
/** Times come as UTC; names mean the tables of the service, whatever the login's own settings. */
const SETTINGS = `SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = ISO; SET LOCAL search_path = public, pg_temp;
  SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL enable_seqscan = off`;

/** What failures of the database mean for the one who audits, by SQLSTATE. */
const FAILURES: Readonly<Record<string, string>> = {
  '42501': 'The login may not read this: GRANT pg_read_all_data TO it.',
  '42P01': 'The database has not all tables of this release: run npm run db:migrate, or name another one.',
  '40001': 'The replica took the statement back: set hot_standby_feedback = on, or max_standby_streaming_delay = -1.',
  '3D000': 'There is no such database: check --database-url.',
  '28P01': 'The login is refused: check --database-url.',
  '28000': 'The login is refused: check --database-url.',
};

/**
 * One connection that reads a database as it was at one moment, with statements of its own: nothing here is shared with
 * what writes. Every method throws UsageError when the database does not answer.
 */
export class AuditReader {
  private constructor(
    private readonly client: Client,
    /** By which other connections see the same moment. */
    readonly moment: string,
  ) {}

  /** @param moment of another reader that is still open; null for now */
  static async open(url: string, moment: string | null): Promise<AuditReader> {
    const client = newClient(url);
    // The failure rejects the statement under way; without a listener it would end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      if (moment !== null) await client.query(`SET TRANSACTION SNAPSHOT ${client.escapeLiteral(moment)}`);
      await client.query(SETTINGS);
      const reader = new AuditReader(client, moment ?? '');
      if (moment !== null) return reader;
      const [row] = await reader.rows('SELECT pg_export_snapshot()');
      return new AuditReader(client, row?.[0] ?? '');
    } catch (error) {
      await client.end().catch(() => undefined);
      throw toUsageError(error);
    }
  }

  async rows(text: string, values: readonly (string | number)[] = []): Promise<Row[]> {
    const rows: Row[] = [];
    await this.each(text, values, (row) => rows.push(row));
    return rows;
  }

  /** Calls `take` for each row as it comes, so that any number of them takes the memory of one. */
  async each(text: string, values: readonly (string | number)[], take: (row: Row) => void): Promise<void> {
    const config: QueryArrayConfig = { text, values: [...values], rowMode: 'array', types: AS_TEXT };
    const query = new Query<(string | null)[]>(config);
    try {
      await new Promise<void>((resolve, reject) => {
        query.on('row', (row: Row) => {
          try {
            take(row);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
        query.on('end', () => resolve());
        query.on('error', reject);
        this.client.query(query);
      });
    } catch (error) {
      throw toUsageError(error);
    }
  }

  /** Whether whole tables may be scanned, where that is cheaper; else every row is looked up, whatever the statistics say. */
  async scanTables(isAllowed: boolean): Promise<void> {
    await this.rows(`SET LOCAL enable_seqscan = ${isAllowed ? 'on' : 'off'}`);
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

function newClient(connectionString: string): Client {
  try {
    return new Client({
      connectionString,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'iss-audit',
      keepAlive: true,
    });
  } catch {
    throw new UsageError('--database-url takes the URL of a database: postgres://LOGIN:PASSWORD@HOST/DATABASE.');
  }
}

function toUsageError(error: unknown): unknown {
  if (error instanceof DatabaseError) {
    return new UsageError(FAILURES[error.code ?? ''] ?? `The database refuses: ${error.message}`);
  }
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const isLost = error instanceof Error && /Connection terminated|timeout/i.test(error.message);
  if (typeof code === 'string' || isLost) {
    return new UsageError(
      `The database cannot be reached (${typeof code === 'string' ? code : 'the connection ended'}).`,
    );
  }
  return error;
}
