import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { reservePort } from '../processes.ts';
import { type OwnRedis, startOwnRedis } from '../redis.ts';
import { waitFor } from './wait-for.ts';

/** The name of the primary in the Sentinels of {@link startSentinelGroup}. */
const PRIMARY = 'iss';
const FAILOVER_MS = 30_000;
/** Starts replication without waiting for further replicas. */
const AT_ONCE = ['--repl-diskless-sync-delay', '0'];

/** A group of connected Redis servers. */
export interface RedisGroup {
  /** The value of `QUEUE_URL`. */
  readonly queueUrl: string;
  /** Returns the server that currently accepts the queue's writes. */
  primary(): Promise<OwnRedis>;
  stop(): Promise<void>;
}

export interface SentinelGroup extends RedisGroup {
  /** Makes the Sentinels promote the replica. The primary becomes a replica. */
  failOver(): Promise<unknown>;
  /** Restarts a killed server. It is empty, and the Sentinels make it a replica. */
  restart(server: OwnRedis): Promise<void>;
  /** Makes all servers keep their connections without answering for a period. */
  hang(lengthMs: number): Promise<void>;
}

/** Sends a command to a server on a separate connection. */
export async function command(server: { url: string }, name: string, ...args: string[]): Promise<unknown> {
  const client = new Redis(server.url, { retryStrategy: null, commandTimeout: 1_000, enableReadyCheck: false });
  client.on('error', () => undefined);
  try {
    return await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}

/** Kills a server in any state (kill -9), like a lost machine. A primary that ends properly waits for its replicas. */
export async function kill(server: OwnRedis): Promise<void> {
  if (server.process.running) process.kill(server.process.pid, 'SIGKILL');
  await server.process.ended;
  await server.stop();
}

/** Starts a primary, a replica, and Sentinels that promote it within about two seconds. */
export async function startSentinelGroup(sentinels = 1): Promise<SentinelGroup> {
  const servers: OwnRedis[] = [];
  try {
    const first = await startOwnRedis({ settings: AT_ONCE });
    servers.push(first);
    servers.push(await startOwnRedis({ settings: [...AT_ONCE, '--replicaof', '127.0.0.1', String(first.port)] }));
    const watch = [
      `sentinel monitor ${PRIMARY} 127.0.0.1 ${first.port} ${Math.floor(sentinels / 2) + 1}`,
      `sentinel down-after-milliseconds ${PRIMARY} 500`,
      `sentinel failover-timeout ${PRIMARY} 3000`,
    ].join('\n');
    const data = [...servers];
    const follows = async (): Promise<boolean> =>
      String(await command(first, 'info', 'replication')).includes('state=online');
    await waitFor(follows, { deadlineMs: FAILOVER_MS, what: 'the replica' });
    const watching: OwnRedis[] = [];
    for (let count = 0; count < sentinels; count += 1) watching.push(await startOwnRedis({ asSentinel: `${watch}\n` }));
    servers.push(...watching);
    const [sentinel] = watching;
    if (sentinel === undefined) throw new Error('No Sentinel');
    const knows = async (): Promise<boolean> =>
      [await command(sentinel, 'sentinel', 'replicas', PRIMARY)].flat().length > 0;
    await waitFor(knows, { deadlineMs: FAILOVER_MS, what: 'the Sentinel to know the replica' });
    return {
      queueUrl: `redis+sentinel://${watching.map(({ port }) => `127.0.0.1:${port}`).join(',')}/?master=${PRIMARY}`,
      async primary() {
        const address = [await command(sentinel, 'sentinel', 'get-master-addr-by-name', PRIMARY)].flat();
        const named = data.find(({ port }) => String(port) === String(address[1]));
        if (named === undefined) throw new Error('The Sentinel names no server of ours');
        return named;
      },
      failOver: () => command(sentinel, 'sentinel', 'failover', PRIMARY),
      async restart({ port }) {
        const back = await startOwnRedis({ port, settings: AT_ONCE });
        servers.push(back);
        data.splice(
          data.findIndex((one) => one.port === port),
          1,
          back,
        );
      },
      async hang(lengthMs) {
        const signal = (name: NodeJS.Signals): void => {
          for (const { process: one } of servers) if (one.running) process.kill(one.pid, name);
        };
        signal('SIGSTOP');
        await pause(lengthMs).finally(() => signal('SIGCONT'));
      },
      stop: () => stopAll(servers),
    };
  } catch (error) {
    await stopAll(servers);
    throw error;
  }
}

/** Starts three primaries with a third of the slots each, and a replica of the one with the queue's slot. */
export async function startCluster(): Promise<RedisGroup> {
  const servers: OwnRedis[] = [];
  try {
    for (let count = 0; count < 4; count += 1) {
      const settings = [
        '--cluster-enabled',
        'yes',
        '--cluster-node-timeout',
        '1000',
        '--cluster-replica-validity-factor',
        '0',
      ];
      // The default port of the cluster bus is outside the reserved range.
      servers.push(
        await startOwnRedis({ settings: [...AT_ONCE, ...settings, '--cluster-port', String(await reservePort())] }),
      );
    }
    const [first, ...others] = servers;
    const replica = others.at(-1);
    if (first === undefined || replica === undefined) throw new Error('No nodes');
    const primaries = servers.slice(0, 3);
    const bounds = [0, 5461, 10_923, 16_384];
    for (const [index, server] of primaries.entries()) {
      await command(server, 'cluster', 'addslotsrange', String(bounds[index]), String((bounds[index + 1] ?? 0) - 1));
      await command(server, 'cluster', 'set-config-epoch', String(index + 1));
    }
    const busPort = async ({ url }: OwnRedis): Promise<string> =>
      String([await command({ url }, 'config', 'get', 'cluster-port')].flat()[1] ?? '');
    for (const other of others) {
      await command(first, 'cluster', 'meet', '127.0.0.1', String(other.port), await busPort(other));
    }
    const slot = Number(await command(first, 'cluster', 'keyslot', '{iss}'));
    const owner = primaries.findIndex((_, index) => slot < (bounds[index + 1] ?? 0));
    const ownerId = String(await command(primaries[owner] ?? first, 'cluster', 'myid'));
    const knows = async (server: OwnRedis): Promise<boolean> =>
      String(await command(server, 'cluster', 'nodes'))
        .trim()
        .split('\n').length === 4;
    await waitFor(() => knows(replica), { deadlineMs: FAILOVER_MS, what: 'the nodes to meet' });
    await waitFor(() => command(replica, 'cluster', 'replicate', ownerId).then(() => true), { what: 'the replica' });
    const isWhole = async (): Promise<boolean> => {
      const states = await Promise.all(servers.map((server) => command(server, 'cluster', 'info')));
      const link = String(await command(replica, 'info', 'replication'));
      return (
        states.every((state) => String(state).includes('cluster_state:ok')) && link.includes('master_link_status:up')
      );
    };
    await waitFor(isWhole, { deadlineMs: FAILOVER_MS, what: 'the cluster' });
    return {
      queueUrl: `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
      async primary() {
        for (const server of servers) {
          const isOwner = await command(server, 'set', '{iss}:asked', '1', 'PX', '1').then(
            () => true,
            () => false,
          );
          if (isOwner) return server;
        }
        throw new Error('No node takes writes of the slot');
      },
      stop: () => stopAll(servers),
    };
  } catch (error) {
    await stopAll(servers);
    throw error;
  }
}

/** Writes a certificate for 127.0.0.1 and its authority into the folder. */
export function makeCertificates(folder: string): { authority: string; certificate: string; key: string } {
  const [authority, certificate, key] = [`${folder}/ca.crt`, `${folder}/server.crt`, `${folder}/server.key`];
  const run = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' });
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  run('req', '-x509', ...fresh, '-keyout', `${folder}/ca.key`, '-out', authority, '-subj', '/CN=test authority');
  const signed = [
    '-CA',
    authority,
    '-CAkey',
    `${folder}/ca.key`,
    '-addext',
    'subjectAltName=IP:127.0.0.1,DNS:localhost',
  ];
  run('req', '-x509', ...fresh, '-keyout', key, '-out', certificate, '-subj', '/CN=redis', ...signed);
  return { authority, certificate, key };
}

async function stopAll(servers: readonly OwnRedis[]): Promise<void> {
  await Promise.all(servers.map(kill));
}
