import { ensureBuilt } from './build.ts';
import { loadDotEnv } from './dev/data-folder.ts';
import { UserError } from './processes.ts';

/**
 * Loads the environment of the service into `process.env`: `.env`, and secrets from files (`NAME_FILE`). Builds the libraries
 * first, since their code reads the files.
 * @throws UserError in one line if a secret cannot be read or the build fails
 */
export async function loadEnvironment(abort?: AbortSignal): Promise<void> {
  loadDotEnv();
  await ensureBuilt(abort);
  const { SECRET_VARIABLES, withSecretFiles } = await import('@iss/platform');
  const { env, faults } = withSecretFiles(process.env);
  if (faults.size > 0) throw new UserError([...faults.values()].join('\n'));
  for (const name of SECRET_VARIABLES) {
    if (env[name] !== undefined) process.env[name] = env[name];
    delete process.env[`${name}_FILE`];
  }
}
