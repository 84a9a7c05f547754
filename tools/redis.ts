import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canInstall, installPackages } from './debian.ts';
import { type OwnedProcess, reservePort, startOwned, UserError } from './processes.ts';
import { waitFor } from './testing/wait-for.ts';

export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Returns a Redis for the tests: the one that QUEUE_URL names, or a new one from {@link startOwnRedis}. */
export async function startRedis(): Promise<RedisServer> {
  const given = process.env['QUEUE_URL'];
  return given ? { url: given, stop: async () => undefined } : startOwnRedis();
}

/** A Redis server that a test can kill and stop by its process. */
export type OwnRedis = RedisServer & { readonly port: number; readonly process: OwnedProcess };

/**
 * Starts `redis-server` or `valkey-server` on the given port or a reserved one, with further settings from the command line. As
 * root on Debian, it installs the server first. With `asSentinel`, the text of a configuration, it is a Sentinel. It stores
 * nothing when it stops. BullMQ needs `noeviction`.
 * @throws UserError if no server can be found or installed
 */
export async function startOwnRedis(
  options: { port?: number; settings?: readonly string[]; asSentinel?: string } = {},
): Promise<OwnRedis> {
  const binary = findServer() ?? installServer();
  const port = options.port ?? (await reservePort());
  const folder = fs.mkdtempSync(join(tmpdir(), 'iss-redis-'));
  const { asSentinel, settings = [] } = options;
  const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder];
  const ofData = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction', '--databases', '4096'];
  if (asSentinel !== undefined) fs.writeFileSync(join(folder, 'sentinel.conf'), asSentinel);
  const kind =
    asSentinel === undefined ? [...place, ...ofData] : [join(folder, 'sentinel.conf'), '--sentinel', ...place];
  const server = await startOwned(binary, [...kind, ...settings], {
    stdio: 'ignore',
    stopSignal: 'SIGTERM',
    temporaryFolder: folder,
  });
  const url = `redis://127.0.0.1:${port}/0`;
  const { Redis } = await import('ioredis');
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null });
  client.on('error', () => undefined);
  try {
    await waitFor(() => client.connect().then(() => true), { deadlineMs: 20_000, what: `${binary} on port ${port}` });
  } finally {
    client.disconnect();
  }
  return {
    url,
    port,
    process: server,
    async stop() {
      await server.stop(5_000);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function findServer(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => fs.existsSync(file));
}

function installServer(): string {
  if (canInstall()) {
    console.error('Installing redis-server with apt-get for the tests of the Redis backend.');
    installPackages(['redis-server']);
    const installed = findServer();
    if (installed !== undefined) return installed;
  }
  throw new UserError(
    'The tests of the Redis backend need a Redis: set QUEUE_URL, or put redis-server or valkey-server on PATH.',
  );
}
