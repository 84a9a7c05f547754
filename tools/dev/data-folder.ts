import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { commandOf, isAlive, UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

/** The output of `npm run -s status`. */
export interface RunStatus {
  base_url: string;
  docs_url: string;
  worker_url: string;
  metrics_url: string;
  worker_metrics_url: string;
  issuer: string;
  database_url: string;
  queue_url: string;
  inbox_url: string;
  /** The prefix of the transparency log's checkpoint and tiles. */
  log_url: string;
  log_vkey: string;
  /** The submission and monitoring prefix of the local witness; empty if variables name others. */
  witness_url: string;
  witness_vkey: string;
  /** The policy with the log's key and the required witnesses (C2SP tlog-policy); empty without a log. */
  log_policy_file: string;
}

/** The contents of `run.json`: the current run, for `status`, `token` and `reset`. */
export interface Run {
  pid: number;
  /** Absent until everything answers. */
  status?: RunStatus;
  audience: string;
  /** True if the issuer is our own, so that `token` can sign for it. */
  own_issuer: boolean;
}

/** Created once, so that sealed and signed data stay valid after a restart. */
export interface DevelopmentSecrets {
  secrets_keys: string;
  snapshot_id_secret: string;
  cookie_key: string;
  database_password: string;
  signing_key: JWK;
}

/** The transparency log's key and name. */
export interface LogKey {
  origin: string;
  signing_key: string;
  vkey: string;
}

/** Reads `.env` in the root, if it exists. Variables that are already set win. */
export function loadDotEnv(): void {
  const file = join(repositoryRoot, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}

/** Returns DATA_DIR and creates it if necessary. Other users may pass through, since the embedded PostgreSQL doesn't run as root. */
export function openDataFolder(): string {
  const folder = dataFolderPath();
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
  }
  mkdirSync(join(folder, 'logs'), { recursive: true, mode: 0o700 });
  return folder;
}

export function dataFolderPath(): string {
  return resolve(repositoryRoot, process.env['DATA_DIR'] || '.data');
}

/** Returns the current run with this data folder, if any. */
export function readRun(): Run | undefined {
  const file = join(dataFolderPath(), 'run.json');
  if (!existsSync(file)) return undefined;
  const run: Run = JSON.parse(readFileSync(file, 'utf8'));
  return isAlive(run.pid) && commandOf(run.pid).includes('dev/start') ? run : undefined;
}

/** Returns the run that answers requests. @throws UserError if there is none */
export function requireRun(): Run & { status: RunStatus } {
  const run = readRun();
  if (run === undefined)
    throw new UserError('Nothing is running with this DATA_DIR. Start the service with npm start.');
  const { status } = run;
  if (status === undefined) throw new UserError('The service is still starting.');
  return { ...run, status };
}

export function writeRun(run: Run): void {
  writeWhole(join(dataFolderPath(), 'run.json'), run);
}

export function removeRun(): void {
  rmSync(join(dataFolderPath(), 'run.json'), { force: true });
}

export async function openSecrets(folder: string): Promise<DevelopmentSecrets> {
  const file = join(folder, 'secrets.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const secrets: DevelopmentSecrets = {
    secrets_keys: `dev1:${randomBytes(32).toString('base64')}`,
    snapshot_id_secret: randomBytes(32).toString('base64'),
    cookie_key: randomBytes(32).toString('base64url'),
    database_password: randomBytes(18).toString('base64url'),
    signing_key: { ...(await exportJWK(privateKey)), kid: randomBytes(8).toString('hex'), alg: 'RS256', use: 'sig' },
  };
  writeWhole(file, secrets);
  return secrets;
}

/** Reads the log's key, or creates it once, so that kept checkpoints stay verifiable. Needs the built library. */
export async function openLogKey(folder: string): Promise<LogKey> {
  const file = join(folder, 'log-key.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  const { generateKeys } = await import('@iss/tlog');
  const origin = `localhost/identity-state/${randomBytes(4).toString('hex')}`;
  const { signingKey, verifierKey } = await generateKeys(origin, 'ed25519');
  const key: LogKey = { origin, signing_key: signingKey, vkey: verifierKey };
  writeWhole(file, key);
  return key;
}

/** Reads the secret VRF key of the map, or creates it once, because another key cannot continue the map. Needs the built library. */
export async function openVrfKey(folder: string): Promise<string> {
  const file = join(folder, 'vrf-key.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  const [{ formatVrfSecretKey, vrfKeysFromRandom }, { nobleGroup }] = await Promise.all([
    import('@iss/map'),
    import('@iss/map/noble'),
  ]);
  const secret = formatVrfSecretKey(vrfKeysFromRandom(nobleGroup, randomBytes(64)).secretKey);
  writeWhole(file, secret);
  return secret;
}

/** Replaces a file atomically. */
function writeWhole(file: string, content: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
