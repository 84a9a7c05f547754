import { DomainError } from '@iss/domain';
import { Client } from 'pg';
import { CONNECT_TIMEOUT_MS, PLANNER } from './database';
import { diagnose } from './diagnose';
import { writableUrl } from './servers';
import { isNotPermitted, toDomainError } from './sql/db-errors';
import { TransactionSql } from './sql/sql';

/**
 * Does `work` on one connection as whoever the URL names: an operator, who owns the tables. Throws `unavailable` when the
 * database cannot be reached, and `forbidden` where the login may not do it.
 */
export async function asOwner<T>(databaseUrl: string, work: (sql: TransactionSql) => Promise<T>): Promise<T> {
  const connectionString = await writableUrl(databaseUrl).catch((error: unknown) => {
    throw diagnose(error, databaseUrl);
  });
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    options: PLANNER.map((setting) => `-c ${setting}`).join(' '),
  });
  // The failure rejects the statement under way; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect().catch((error: unknown) => {
      throw diagnose(error, databaseUrl);
    });
    return await work(new TransactionSql(client));
  } catch (error) {
    if (isNotPermitted(error)) {
      throw new DomainError('forbidden', 'The login may not do this. Use the one that owns the tables.');
    }
    throw toDomainError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
