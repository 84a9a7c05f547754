import { readFileSync } from 'node:fs';
import { failureOf } from '../process/failure';

/** Variables with secrets. Each may instead be in the file that the variable with the suffix `_FILE` names. */
export const SECRET_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_REPLICA_URL',
  'QUEUE_URL',
  'SECRETS_KEYS',
  'SNAPSHOT_ID_SECRET',
  'LOG_SIGNING_KEY',
  'LOG_PQ_SIGNING_KEY',
  'LOG_VRF_KEY',
  'WEBHOOK_EGRESS_PROXY',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

/** An environment after the secret files were read. */
export interface EnvWithSecrets {
  /** `NAME` has the content of the file in `NAME_FILE`, without a final newline, and `NAME_FILE` is removed. */
  env: NodeJS.ProcessEnv;
  /**
   * By `NAME`, one line for each secret that could not be read. It contains the variable and the file, never the
   * content.
   */
  faults: ReadonlyMap<string, string>;
}

/**
 * Reads secrets from files, only for the variables in `names`. An empty variable counts as unset. Files are read once,
 * at start: a change takes effect after a restart.
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
