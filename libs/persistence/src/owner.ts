import { DomainError } from '@iss/domain';
import { Client } from './client';
import { CONNECT_TIMEOUT_MS, PLANNER } from './database';
import { diagnose } from './diagnose';
import { writableUrl } from './servers';
import { isNotPermitted, toDomainError } from './sql/db-errors';
import { TransactionSql } from './sql/sql';

/**
 * Runs `work` on one connection with the login of the URL: an operator that owns the tables. Throws `unavailable` if the database
 * cannot be reached, and `forbidden` if the login lacks a privilege.
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
