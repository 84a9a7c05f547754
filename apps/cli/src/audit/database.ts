import { Client, DatabaseError, Query, type QueryArrayConfig } from 'pg';
import { UsageError } from '../command';

/** The columns of a row in PostgreSQL's text format. */
export type Row = readonly (string | null)[];

export function isText(value: string | null | undefined): value is string {
  return typeof value === 'string';
}

const CONNECT_TIMEOUT_MS = 10_000;
const AS_TEXT = { getTypeParser: () => (text: string) => text };
/** UTC times and the search path of the service, regardless of the login's own settings. */
const SETTINGS = `SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = ISO; SET LOCAL search_path = public, pg_temp;
  SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL enable_seqscan = off`;

/** Messages for database errors, by SQLSTATE. */
const FAILURES: Readonly<Record<string, string>> = {
  '42501': 'The login may not read this table. Run GRANT pg_read_all_data TO the login.',
  '42P01': 'The database lacks tables of this release. Run npm run db:migrate, or name another database.',
  '40001': 'The replica cancelled the statement. Set hot_standby_feedback = on, or max_standby_streaming_delay = -1.',
  '3D000': 'The database does not exist. Check --database-url.',
  '28P01': 'The login was refused. Check --database-url.',
  '28000': 'The login was refused. Check --database-url.',
};

/**
 * One connection that reads the database as of one moment. It shares no statements with the writers. Each method throws UsageError if the
 * database does not answer.
 */
export class AuditReader {
  private constructor(
    private readonly client: Client,
    /** The exported snapshot id, for other connections. */
    readonly moment: string,
  ) {}

  /** @param moment the moment of another open reader; null for the present */
  static async open(url: string, moment: string | null): Promise<AuditReader> {
    const client = newClient(url);
    // The error also rejects the running statement. Without a listener it would end the process.
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

  /** Streams the rows to `take`, so that only one is in memory. */
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

  /** Allows or forbids table scans. Without them, every row is looked up by index, regardless of statistics. */
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
    throw new UsageError('--database-url takes postgres://LOGIN:PASSWORD@HOST/DATABASE.');
  }
}

function toUsageError(error: unknown): unknown {
  if (error instanceof DatabaseError) {
    return new UsageError(FAILURES[error.code ?? ''] ?? `The database reports: ${error.message}`);
  }
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const isLost = error instanceof Error && /Connection terminated|timeout/i.test(error.message);
  if (typeof code === 'string' || isLost) {
    return new UsageError(
      `The database cannot be reached (${typeof code === 'string' ? code : 'the connection ended'}). Check --database-url.`,
    );
  }
  return error;
}
