import { DomainError } from '@iss/domain';
import { migrate, writableUrl } from '@iss/persistence';
import { serverUrls } from '@iss/platform';
import { migrateQueue } from '@iss/queue';
import { Failure } from './command';

/**
 * Brings the database up to date as the owner of its tables, BullMQ's tables too when the queue stands on it. Gives the names
 * of what was applied; none where everything was there. `tell` hears what is waited for meanwhile.
 * @throws Failure in one line when the database can't be reached or refuses.
 */
export async function applyMigrations(
  databaseUrl: string,
  queueUrl: string | undefined,
  tell?: (line: string) => void,
): Promise<string[]> {
  const servers = serverUrls(databaseUrl).map((url) => URL.parse(url));
  if (servers.length === 0) throw new Failure('DATABASE_URL: not a postgres:// URL.');
  try {
    const applied = await migrate(databaseUrl, tell);
    if (!queueUrl) await migrateQueue(await writableUrl(databaseUrl));
    return applied;
  } catch (error) {
    const where = servers.map((url) => `${url?.host}${url?.pathname}`).join(' or ');
    throw new Failure(`The database ${where} (DATABASE_URL) can't be migrated: ${reasonOf(error)}`);
  }
}

/** The innermost cause says most: the outer ones only that something failed. */
function reasonOf(error: unknown): string {
  if (error instanceof DomainError) return error.message;
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.cause === undefined ? error.message : reasonOf(error.cause);
  return String(error);
}
