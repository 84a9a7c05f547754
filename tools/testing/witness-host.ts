import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '@iss/platform';
import { generateKeys } from '@iss/tlog';
import { Witness } from '../../apps/cli/src/witness/witness.ts';
import { readLogs, readWitnessKeys } from '../../apps/cli/src/witness/witness-files.ts';
import { serveWitness, type WitnessServer } from '../../apps/cli/src/witness/witness-server.ts';
import { WitnessState } from '../../apps/cli/src/witness/witness-state.ts';
import { reservePort } from '../processes.ts';
import type { WitnessProcess } from './witness-process.ts';

const logger = createLogger({ name: 'witness', level: 'silent' });

/**
 * Prepares a witness that runs inside the test, only for Jest, since a separate process takes a second to start. The tests of
 * `iss witness` kill real processes.
 */
export async function hostWitness(folder: string, name: string, logVkey: string): Promise<WitnessProcess> {
  const { signingKey, verifierKey } = await generateKeys(`witness.example/${name}`, 'ed25519-cosignature');
  const file = (kind: string): string => join(folder, `${name}-${kind}`);
  writeFileSync(file('key'), signingKey);
  writeFileSync(file('logs'), logVkey);
  const port = await reservePort();
  let running: { server: WitnessServer; state: WitnessState } | undefined;
  const stop = async (): Promise<void> => {
    const stopped = running;
    running = undefined;
    await stopped?.server.close();
    stopped?.state.close();
  };
  return {
    name,
    vkey: verifierKey,
    url: `http://127.0.0.1:${port}`,
    stateFile: file('state'),
    async start() {
      const state = WitnessState.open(file('state'));
      const logKeys = (await readLogs(file('logs'))).map(({ key }) => key);
      const witness = new Witness(await readWitnessKeys(file('key')), logKeys, state);
      running = { server: await serveWitness(witness, logger, { host: '127.0.0.1', port }), state };
    },
    kill: stop,
    stop,
  };
}
