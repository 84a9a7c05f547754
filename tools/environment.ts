import { ensureBuilt } from './build.ts';
import { loadDotEnv } from './dev/data-folder.ts';
import { UserError } from './processes.ts';

/**
 * Has `process.env` hold what the processes of the service read: `.env`, and the secrets that stand in files (`NAME_FILE`).
 * What is not built is built first, since the processes' own code reads the files.
 * @throws UserError in one line a secret that cannot be read, or when the build fails.
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
