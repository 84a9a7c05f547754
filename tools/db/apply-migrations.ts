import { UserError } from '../processes.ts';

/**
 * Runs `iss migrate`, which must be built.
 * @throws UserError in one line if the database can't be reached or refuses.
 */
export async function applyMigrations(
  databaseUrl: string,
  queueUrl: string | undefined,
  tell?: (line: string) => void,
): Promise<string[]> {
  const cli = await import('@iss/cli/apply-migrations');
  return cli.applyMigrations(databaseUrl, queueUrl, tell).catch((error: unknown) => {
    throw new UserError(error instanceof Error ? error.message : String(error));
  });
}
