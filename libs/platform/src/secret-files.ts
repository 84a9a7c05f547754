import { readFileSync } from 'node:fs';
import { failureOf } from './failure';

/** Variables that hold secrets. Each may stand in a file instead, which the variable of the same name with `_FILE` names. */
export const SECRET_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_REPLICA_URL',
  'QUEUE_URL',
  'SECRETS_KEYS',
  'SNAPSHOT_ID_SECRET',
  'LOG_SIGNING_KEY',
  'LOG_PQ_SIGNING_KEY',
  'WEBHOOK_EGRESS_PROXY',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

/** An environment whose secrets were read from their files. */
export interface EnvWithSecrets {
  /** `NAME` has what the file of `NAME_FILE` holds, without one newline at its end; `NAME_FILE` is gone. */
  env: NodeJS.ProcessEnv;
  /** One line a secret that could not be read, by `NAME`: it names the variable and the file, never a content. */
  faults: ReadonlyMap<string, string>;
}

/**
 * Reads the secrets that files hold, so that no environment need hold them: those of `names` and no other file. An empty
 * variable counts as unset. Files are read once, at boot: a changed one acts after a restart.
 */
export function withSecretFiles(
  source: NodeJS.ProcessEnv,
  names: readonly string[] = SECRET_VARIABLES,
): EnvWithSecrets {
  const env = { ...source };
  const faults = new Map<string, string>();
  for (const name of SECRET_VARIABLES) {
    const path = source[`${name}_FILE`];
    if (!path || !names.includes(name)) continue;
    delete env[`${name}_FILE`];
    const read = source[name] ? { fault: `must not be set beside ${name}: keep one of the two` } : contentOf(path);
    if ('fault' in read) faults.set(name, `${name}_FILE ${read.fault}`);
    else env[name] = read.content;
  }
  return { env, faults };
}

function contentOf(path: string): { content: string } | { fault: string } {
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return content === '' ? { fault: `names an empty file: ${path}` } : { content };
  } catch (error) {
    return { fault: `names a file that cannot be read: ${path} (${failureOf(error).code ?? 'unknown'})` };
  }
}
