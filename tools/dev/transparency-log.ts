import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../testing/wait-for.ts';
import { type App, startApp } from './app-process.ts';
import { type LogKey, openLogKey, openVrfKey } from './data-folder.ts';
import type { StartSettings } from './settings.ts';

const START_DEADLINE_MS = 30_000;

/** The files of the log and of its witness in the data folder, which `npm run reset` deletes. */
export const LOG_FILES = [
  'log-key.json',
  'vrf-key.json',
  'log-checkpoint',
  'log-checkpoint.new',
  'log-policy',
  'witness-key',
  'witness-state',
  'witness-state-journal',
];

/** The log of this machine, its witness and its policy. Texts are empty if there is none. */
export interface DevelopmentLog {
  /** The environment of both apps. */
  env: NodeJS.ProcessEnv;
  vkey: string;
  /** Absent if variables name other witnesses, or none. */
  witness?: { url: string; vkey: string; start: () => Promise<App> };
  policyFile: string;
}

/**
 * Returns the keys, policy and witness of the log: those of the environment, or else local ones. Needs the built libraries.
 */
export async function openDevelopmentLog(folder: string, settings: StartSettings): Promise<DevelopmentLog> {
  const { createSigner } = await import('@iss/tlog');
  const { formatVrfPublicKey, parseVrfSecretKey } = await import('@iss/map');
  const { nobleGroup } = await import('@iss/map/noble');
  const own = settings.local ? await openLogKey(folder) : undefined;
  const signingKeys = given('LOG_SIGNING_KEY')?.split(',') ?? (own === undefined ? [] : [own.signing_key]);
  const all = [...signingKeys, ...(given('LOG_PQ_SIGNING_KEY')?.split(',') ?? [])];
  // The worker reports faults of a given key itself.
  const vkeys = (await Promise.allSettled(all.map((key) => createSigner(key.trim())))).flatMap((signer) =>
    signer.status === 'fulfilled' ? [signer.value.verifierKey] : [],
  );
  const vkey = vkeys[0] ?? '';
  const policyFile = given('LOG_POLICY_FILE');
  if (own === undefined) return { env: {}, vkey, policyFile: policyFile ?? '' };
  const vrfSecret = given('LOG_VRF_KEY') ?? (await openVrfKey(folder));
  const env = { ...ownKey(own, folder), LOG_VRF_KEY: vrfSecret };
  if (policyFile !== undefined) return { env, vkey, policyFile };

  const witness = await openWitness(folder, settings.ports.witness);
  const file = join(folder, 'log-policy');
  const logUrl = `http://localhost:${settings.ports.gateway}/log`;
  writeFileSync(
    file,
    [
      '# The key and the witness of the log on this machine (C2SP tlog-policy).',
      '# This local witness is a demonstration. A real witness belongs to an independent party.',
      ...vkeys.map((key) => `log ${key} ${logUrl}`),
      `vrf ${formatVrfPublicKey(parseVrfSecretKey(nobleGroup, vrfSecret).publicKey)}`,
      `witness local ${witness.vkey} ${witness.url}`,
      'quorum local',
      '',
    ].join('\n'),
  );
  return {
    env: { ...env, LOG_POLICY_FILE: file },
    vkey,
    witness: { ...witness, start: () => startWitness(folder, settings.ports.witness, file) },
    policyFile: file,
  };
}

/** Resolves when the witness answers, since the worker calls it before it signs for the first time. */
export async function witnessAnswers(url: string, app: App): Promise<void> {
  const answers = waitFor(async () => (await fetch(url)).status > 0, {
    deadlineMs: START_DEADLINE_MS,
    what: 'the witness',
  });
  await Promise.race([answers, app.failed]);
}

function given(variable: string): string | undefined {
  return process.env[variable] || undefined;
}

function ownKey(key: LogKey, folder: string): NodeJS.ProcessEnv {
  return {
    LOG_ORIGIN: key.origin,
    LOG_SIGNING_KEY: key.signing_key,
    LOG_CHECKPOINT_FILE: join(folder, 'log-checkpoint'),
  };
}

/** Prepares the witness. Its key is created once, so that kept policies stay valid. */
async function openWitness(folder: string, port: number): Promise<{ url: string; vkey: string }> {
  const { createSigner, generateKeys } = await import('@iss/tlog');
  const file = join(folder, 'witness-key');
  if (!existsSync(file)) {
    const name = `localhost/witness/${randomBytes(4).toString('hex')}`;
    const { signingKey } = await generateKeys(name, 'ed25519-cosignature');
    writeFileSync(file, `${signingKey}\n`, { mode: 0o600 });
  }
  const { verifierKey } = await createSigner(readFileSync(file, 'utf8').trim());
  return { url: `http://127.0.0.1:${port}`, vkey: verifierKey };
}

/** Starts the witness. The policy names the log. */
function startWitness(folder: string, port: number, policyFile: string): Promise<App> {
  const options = {
    key: join(folder, 'witness-key'),
    state: join(folder, 'witness-state'),
    logs: policyFile,
    listen: `127.0.0.1:${port}`,
  };
  return startApp({
    name: 'witness',
    entry: 'apps/cli/dist/main.js',
    args: ['witness', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])],
    env: { PATH: process.env['PATH'] },
    logFile: join(folder, 'logs', 'witness.log'),
  });
}
