import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { reservePort, type OwnedProcess } from '../processes.ts';
import { startOwnRedis } from '../redis.ts';
import { waitFor } from '../testing/wait-for.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { programOf } from './frame/packages.ts';
import { folderForPostgres, PASSWORD, postgresAccount, postgresProgram, query, urlOf } from './frame/postgres.ts';
import { TrialService } from './frame/service.ts';
import { runTrial, type Trial } from './frame/trial.ts';

/**
 * `npm run trial -- patroni`: runs three PostgreSQL servers with synchronous replication, managed by Patroni over etcd, behind
 * HAProxy, which asks Patroni for the leader, all on loopback. While a writer writes, it kills the leader's PostgreSQL and
 * Patroni (kill -9), then requests a switchover, then makes the leader hang.
 */
const NODES = ['a', 'b', 'c'] as const;
const BEFORE_MS = 3_000;
const READY_MS = 120_000;
/** Patroni replaces a leader when its key expires. */
const TTL_SECONDS = 20;

interface Node {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  /** Starts Patroni, which starts PostgreSQL. */
  start(): Promise<void>;
  patroni(): OwnedProcess;
}

async function startEtcd(trial: Trial): Promise<number> {
  const [client, peer] = [await reservePort(), await reservePort()];
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  await trial.run('etcd', programOf('etcd-server'), [
    ...['--name', 'one', '--data-dir', trial.path('etcd'), '--enable-v2=true', '--log-level', 'warn'],
    ...['--listen-client-urls', url(client), '--advertise-client-urls', url(client)],
    ...['--listen-peer-urls', url(peer), '--initial-advertise-peer-urls', url(peer)],
    ...['--initial-cluster', `one=${url(peer)}`],
  ]);
  const answers = async (): Promise<boolean> => (await fetch(`${url(client)}/health`)).ok;
  await waitFor(answers, { deadlineMs: 30_000, what: 'etcd' });
  return client;
}

async function prepareNode(trial: Trial, name: string, etcdPort: number): Promise<Node> {
  const [port, restPort] = [await reservePort(), await reservePort()];
  const home = folderForPostgres(trial.path(`node-${name}`));
  const file = trial.path(`patroni-${name}.yml`);
  // JSON is valid YAML.
  const settings = {
    scope: 'trial',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: TTL_SECONDS,
        loop_wait: 2,
        retry_timeout: 6,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { 'auth-host': 'scram-sha-256' }],
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: `${home}/data`,
      bin_dir: postgresProgram('').replace(/\/$/, ''),
      pgpass: `${home}/pgpass`,
      authentication: {
        superuser: { username: 'postgres', password: PASSWORD },
        replication: { username: 'replicator', password: PASSWORD },
        rewind: { username: 'postgres', password: PASSWORD },
      },
      parameters: { unix_socket_directories: '' },
    },
  };
  writeFileSync(file, JSON.stringify(settings));
  let patroni: OwnedProcess | undefined;
  return {
    name,
    port,
    restPort,
    async start() {
      patroni = await trial.run(`patroni-${name}`, programOf('patroni'), [file], {
        account: postgresAccount(),
        env: { HOME: home, PYTHONUNBUFFERED: '1' },
      });
    },
    patroni() {
      if (patroni === undefined) throw new Error(`${name} was never started`);
      return patroni;
    },
  };
}

async function startHaproxy(trial: Trial, nodes: readonly Node[]): Promise<number> {
  const port = await reservePort();
  const servers = nodes.map(
    (node) =>
      `  server ${node.name} 127.0.0.1:${node.port} check port ${node.restPort} inter 1s fall 2 rise 1 on-marked-down shutdown-sessions`,
  );
  const file = trial.path('haproxy.cfg');
  writeFileSync(
    file,
    `global
  maxconn 500
defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
  timeout check 2s
listen leader
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
${servers.join('\n')}
`,
  );
  await trial.run('haproxy', programOf('haproxy'), ['-db', '-f', file]);
  return port;
}

/** Returns the node that reports itself as the leader. */
async function leaderOf(nodes: readonly Node[]): Promise<Node | undefined> {
  for (const node of nodes) {
    const isLeader = await fetch(`http://127.0.0.1:${node.restPort}/primary`, { signal: AbortSignal.timeout(2_000) })
      .then(({ status }) => status === 200)
      .catch(() => false);
    if (isLeader) return node;
  }
  return undefined;
}

/** Waits until all nodes run and one of them is the synchronous standby. Returns the leader. */
async function waitForCluster(nodes: readonly Node[]): Promise<Node> {
  return waitFor(
    async () => {
      const leader = await leaderOf(nodes);
      if (leader === undefined) return undefined;
      const rows = await query<{ state: string }>(
        urlOf(leader.port, 'postgres'),
        `SELECT sync_state AS state FROM pg_stat_replication WHERE state = 'streaming'`,
      );
      const isWhole = rows.length === nodes.length - 1 && rows.some(({ state }) => state === 'sync');
      return isWhole ? leader : undefined;
    },
    { deadlineMs: READY_MS, what: 'a leader with a synchronous standby' },
  );
}

const pidOfPostgres = async (node: Node): Promise<number> => {
  const [row] = await query<{ pid: number }>(
    urlOf(node.port, 'postgres'),
    `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid`,
  );
  if (row === undefined) throw new Error(`${node.name} says no process id`);
  return row.pid;
};

await runTrial('patroni', async (trial) => {
  const etcdPort = await startEtcd(trial);
  const nodes: Node[] = [];
  for (const name of NODES) nodes.push(await prepareNode(trial, name, etcdPort));
  // The first node creates the cluster; the others copy it.
  await nodes[0]?.start();
  await waitFor(() => leaderOf(nodes), { deadlineMs: READY_MS, what: 'the first leader' });
  await Promise.all(nodes.slice(1).map((node) => node.start()));
  const first = await waitForCluster(nodes);
  await query(urlOf(first.port, 'postgres'), 'CREATE DATABASE iss');
  const haproxyPort = await startHaproxy(trial, nodes);
  const url = urlOf(haproxyPort);
  await waitFor(async () => (await query(url, 'SELECT 1')).length === 1, { deadlineMs: 30_000, what: 'HAProxy' });

  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const service = await TrialService.start(trial, { databaseUrl: url, queueUrl: redis.url, gateways: 2 });
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service, { writers: 6 });

  const moves: [what: string, how: (leader: Node) => Promise<() => Promise<unknown>>][] = [
    [
      'the leader’s PostgreSQL and Patroni are killed (kill -9)',
      async (leader) => {
        const pid = await pidOfPostgres(leader);
        process.kill(leader.patroni().pid, 'SIGKILL');
        process.kill(pid, 'SIGKILL');
        return () => leader.start();
      },
    ],
    [
      'a switchover is asked for',
      async (leader) => {
        const answer = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ leader: leader.name }),
        });
        if (!answer.ok) throw new Error(`The switchover is refused: ${await answer.text()}`);
        return () => Promise.resolve();
      },
    ],
    [
      'the leader’s PostgreSQL and Patroni hang (SIGSTOP)',
      async (leader) => {
        const pids = [leader.patroni().pid, await pidOfPostgres(leader), ...(await backendsOf(leader))];
        for (const pid of pids) signal(pid, 'SIGSTOP');
        return () => {
          for (const pid of pids) signal(pid, 'SIGCONT');
          return Promise.resolve();
        };
      },
    ],
  ];
  for (const [what, how] of moves) {
    await pause(BEFORE_MS);
    const leader = await waitForCluster(nodes);
    const startedAtMs = Date.now();
    const mend = await how(leader);
    const others = nodes.filter((node) => node !== leader);
    const next = await waitFor(() => leaderOf(others), { deadlineMs: READY_MS, what: 'another leader' });
    const ledAtMs = Date.now();
    const wroteAtMs = await writer.firstAfter(ledAtMs);
    trial.judge(
      wroteAtMs - ledAtMs <= 10_000,
      `${what}: ${next.name} leads after ${ledAtMs - startedAtMs} ms, the first write ${wroteAtMs - ledAtMs} ms later`,
    );
    await mend();
    await waitForCluster(nodes);
  }
  await pause(BEFORE_MS);
  await writer.stop();
  const { stored } = await judgeLedger(trial, writer, url);
  await receiver.judge(trial, stored);
  await service.judgeLog(trial, url);
});

async function backendsOf(node: Node): Promise<number[]> {
  const rows = await query<{ pid: number }>(urlOf(node.port, 'postgres'), 'SELECT pid FROM pg_stat_activity');
  return rows.map(({ pid }) => pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The backend has ended meanwhile.
  }
}
