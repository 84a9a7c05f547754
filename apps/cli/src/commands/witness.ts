import { createLogger, onShutdown } from '@iss/platform';
import { type Command, Failure, requiredText, textOf, UsageError } from '../command';
import { MapAudits } from '../map-audit/map-audits';
import { readLogs, readWitnessKeys } from '../witness/witness-files';
import { serveWitness, type WitnessServer } from '../witness/witness-server';
import { WitnessState } from '../witness/witness-state';
import { Witness } from '../witness/witness';

const STOP_TIMEOUT_MS = 10_000;

export const witness: Command = {
  about: 'It runs until SIGINT or SIGTERM and needs no service and no database (docs/log.md).',
  usage: '--key FILE --state FILE --logs FILE --listen HOST:PORT [--audit-map FOLDER]',
  options: {
    key: { value: 'FILE', about: 'Signing keys of the witness, one per line.' },
    state: { value: 'FILE', about: 'SQLite file for its cosigned checkpoints.' },
    logs: { value: 'FILE', about: 'Verifier keys of the logs, one per line.' },
    listen: { value: 'HOST:PORT', about: 'Address to listen on.' },
    'audit-map': {
      value: 'FOLDER',
      about:
        'Cosign only if the map of the log, rebuilt in FOLDER, has the root that the log states. Each log needs its URL.',
    },
  },
  async run(options) {
    const place = placeOf(requiredText(options, 'listen', 'HOST:PORT'));
    const [key, statePath, logs] = ['key', 'state', 'logs'].map((name) => requiredText(options, name, 'FILE'));
    const signers = await readWitnessKeys(key ?? '');
    const witnessed = await readLogs(logs ?? '');
    const logKeys = witnessed.map(({ key }) => key);
    const state = WitnessState.open(statePath ?? '');
    const logger = createLogger({ name: 'witness', level: 'info' });
    const folder = textOf(options, 'audit-map');
    const audits = folder === undefined ? undefined : new MapAudits(folder, witnessed, logger);
    const server = await listen(new Witness(signers, logKeys, state, Date.now, audits?.audit), logger, place);
    onShutdown({
      logger,
      timeoutMs: STOP_TIMEOUT_MS,
      close: async () => {
        await server.close();
        await audits?.close();
        state.close();
      },
    });
    logger.info(
      {
        url: server.url,
        vkeys: signers.map(({ verifierKey }) => verifierKey),
        logs: [...new Set(logKeys.map(({ name }) => name))],
      },
      'listening',
    );
    // Only a signal ends the process.
    await new Promise<never>(() => undefined);
  },
};

async function listen(...[one, logger, place]: Parameters<typeof serveWitness>): Promise<WitnessServer> {
  try {
    return await serveWitness(one, logger, place);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(
      `The witness cannot listen on ${place.host}:${place.port}: ${why}. Choose another address with --listen.`,
    );
  }
}

function placeOf(listen: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.+):([0-9]{1,5})$/.exec(listen) ?? [];
  if (host === '' || Number(port) > 65_535) throw new UsageError('--listen takes HOST:PORT, such as 127.0.0.1:3040.');
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}
