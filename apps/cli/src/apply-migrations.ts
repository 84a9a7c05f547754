import { DomainError } from '@iss/domain';
import { migrate, writableUrl } from '@iss/persistence';
import { serverUrls } from '@iss/platform';
import { migrateQueue } from '@iss/queue';
import { Failure } from './command';

/**
 * Migrates the database as the owner of its tables, including BullMQ's tables if the queue uses PostgreSQL.
 *
 * @param tell reports the reason for a wait
 * @returns the names of the applied migrations
 * @throws Failure in one line if the database cannot be reached or refuses
 */
export async function applyMigrations(
  databaseUrl: string,
  queueUrl: string | undefined,
  tell?: (line: string) => void,
): Promise<string[]> {
  const servers = serverUrls(databaseUrl).map((url) => URL.parse(url));
  if (servers.length === 0) throw new Failure('DATABASE_URL must be a postgres:// URL.');
  try {
    const applied = await migrate(databaseUrl, tell);
    if (!queueUrl) await migrateQueue(await writableUrl(databaseUrl));
    return applied;
  } catch (error) {
    const where = servers.map((url) => `${url?.host}${url?.pathname}`).join(' or ');
    throw new Failure(`The database ${where} (DATABASE_URL) cannot be migrated: ${reasonOf(error)}`);
  }
}

/** Returns the message of the innermost cause, which is the most specific one. */
function reasonOf(error: unknown): string {
  if (error instanceof DomainError) return error.message;
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.cause === undefined ? error.message : reasonOf(error.cause);
  return String(error);
}
