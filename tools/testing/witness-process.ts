import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { generateKeys } from '@iss/tlog';
import { reservePort, type OwnedProcess, startOwned } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from './wait-for.ts';

const STOP_MS = 5_000;

/** `iss witness` as a separate process, whose port, key and state survive restarts. */
export interface WitnessProcess {
  readonly name: string;
  readonly vkey: string;
  readonly url: string;
  readonly stateFile: string;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** A witness that can audit the map. */
export interface AuditorProcess extends WitnessProcess {
  /** Lets it audit the map of the log at this URL, from its next start. */
  auditMapOf(logUrl: string): void;
}

/** Prepares a witness of the log with this verifier key, with its files in the folder. */
export async function prepareWitness(folder: string, name: string, logVkey: string): Promise<AuditorProcess> {
  const { signingKey, verifierKey } = await generateKeys(`witness.example/${name}`, 'ed25519-cosignature');
  const file = (what: string): string => join(folder, `${name}-${what}`);
  writeFileSync(file('key'), signingKey);
  writeFileSync(file('logs'), logVkey);
  const port = await reservePort();
  const url = `http://127.0.0.1:${port}`;
  let child: OwnedProcess | undefined;
  const more: string[] = [];
  return {
    name,
    vkey: verifierKey,
    url,
    stateFile: file('state'),
    auditMapOf(logUrl) {
      writeFileSync(file('logs'), `${logVkey} ${logUrl}`);
      more.push('--audit-map', file('maps'));
    },
    async start() {
      const files = ['key', 'state', 'logs'].flatMap((what) => [`--${what}`, file(what)]);
      const words = ['witness', ...files, '--listen', `127.0.0.1:${port}`, ...more];
      const started = await startOwned(process.execPath, [join(repositoryRoot, 'apps/cli/dist/main.js'), ...words], {
        stdio: 'ignore',
        stopSignal: 'SIGTERM',
      });
      child = started;
      const answers = async (): Promise<boolean> => !started.running || (await fetch(url)).status === 404;
      await waitFor(answers, { what: `the witness ${name}` });
      if (!started.running) throw new Error(`The witness ${name} does not start: ${await started.ended}`);
    },
    async kill() {
      if (child === undefined) return;
      process.kill(child.pid, 'SIGKILL');
      await child.ended;
    },
    async stop() {
      await child?.stop(STOP_MS);
    },
  };
}
