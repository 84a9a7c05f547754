import { Socket } from 'node:net';
import { type DatabaseRole, replicaUrls, within } from '@iss/platform';
import { type ClientConfig, Pool } from 'pg';
import { Client } from './client';
import { ask } from './sql/ask';
import { isUnavailable } from './sql/db-errors';
import { LoneStatements } from './sql/lone-statements';
import type { Statement } from './sql/statement';

export interface ReplicaSettings {
  /** The URL of one host or several. A standby is preferred. */
  url: string;
  poolSize: number;
  applicationName: string;
  /** The role that its connections act as. */
  role: DatabaseRole;
  /** Startup options of its connections, without the statement timeout. */
  options: string;
  /** Receives the name of each statement that is sent. */
  observe: (statementName: string) => void;
}

/**
 * The result of a read that a replica could have answered. In all cases but the first, the primary answered.
 * - `answered`: the replica answered.
 * - `behind`: it lacks a version that the primary has.
 * - `differs`: its data does not lead to the hash that the primary names.
 * - `failed`: it failed or was too slow.
 * - `away`: it was not asked, because it did not respond to the last check.
 */
export const REPLICA_OUTCOMES = ['answered', 'behind', 'differs', 'failed', 'away'] as const;
export type ReplicaOutcome = (typeof REPLICA_OUTCOMES)[number];

/** The timeout of a read. The primary reads a page in a few milliseconds, so a longer wait is not worthwhile. */
const ANSWER_MS = 500;
/** The interval between two checks of the replica. */
const LOOK_MS = 1_000;
/** The number of remembered positions of the primary, one per check. A longer lag is reported as the age of the oldest one. */
const MAX_POSITIONS = 600;

/** Reads the role and the position in the write-ahead log, in bytes. The position is null if the server is not a standby. */
const LOOK = {
  name: 'replica_look',
  text: `SELECT current_user::text AS "actsAs", pg_is_in_recovery() AS "isStandby",
       CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 END AS position`,
};
interface Seen {
  actsAs: string;
  isStandby: boolean;
  position: number | null;
}

/**
 * A copy of the database, for reads that may be late. It decides nothing, and nobody waits for it: the primary answers if it does
 * not answer at once. It is checked once a second. If it does not answer, the other hosts are asked.
 */
export class Replica {
  readonly outcomes: Record<ReplicaOutcome, number> = { answered: 0, behind: 0, differs: 0, failed: 0, away: 0 };
  private readonly urls: readonly string[];
  private readonly pool: Pool;
  private readonly turns: LoneStatements;
  private readonly positions: { position: number; atMs: number }[] = [];
  private used: number;
  private readonly looks = new Map<number, Client>();
  private readonly sockets = new Set<Socket>();
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private seen: Seen | null = null;

  /** `primaryPosition` returns the end of the primary's write-ahead log, in bytes. */
  constructor(
    private readonly settings: ReplicaSettings,
    private readonly primaryPosition: () => Promise<number>,
  ) {
    this.urls = replicaUrls(settings.url);
    // A random start spreads the processes of a deployment over its replicas.
    this.used = Math.floor(Math.random() * this.urls.length);
    this.turns = new LoneStatements(settings.poolSize);
    const urlOf = (): string => this.url;
    this.pool = new Pool({
      max: settings.poolSize,
      application_name: settings.applicationName,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      stream: () => this.socket(),
      // Short lives lead connections back to a standby that has recovered.
      maxLifetimeSeconds: 300,
      options: `${settings.options} -c statement_timeout=${ANSWER_MS}`,
      Client: class extends Client {
        constructor(config?: ClientConfig) {
          super({ ...config, connectionString: urlOf() });
        }
      },
    });
    // The pool replaces a connection that dies while idle. Without a listener, its error would end the process.
    this.pool.on('error', () => undefined);
  }

  /** True if it answered the last check. */
  get isThere(): boolean {
    return this.seen !== null;
  }

  /** True if it follows a primary; null if it does not answer. */
  get isStandby(): boolean | null {
    return this.seen?.isStandby ?? null;
  }

  /** The seconds for which the primary has had data that it lacks; null if unknown. */
  get lagSeconds(): number | null {
    if (this.seen === null) return null;
    const { position } = this.seen;
    if (position === null) return 0;
    const lacking = this.positions.find((known) => known.position > position);
    return lacking === undefined ? 0 : (performance.now() - lacking.atMs) / 1_000;
  }

  /** Checks it now, and once a second until {@link close}. */
  async watch(): Promise<void> {
    await this.lookAt();
    const again = (): void => {
      if (this.isClosed) return;
      this.timer = setTimeout(() => void this.lookAt().then(again, again), LOOK_MS).unref();
    };
    again();
  }

  /**
   * Runs a statement and returns its rows, or null if the replica does not answer at once. Each owner has fewer statements at
   * once than there are connections.
   */
  async run<Parameters extends object, Row extends object>(
    whose: string,
    query: Statement<Parameters, Row>,
    parameters: NoInfer<Parameters>,
  ): Promise<Row[] | null> {
    return this.turns.run(whose, async () => {
      if (!this.isThere) {
        this.count('away');
        return null;
      }
      try {
        this.settings.observe(query.name);
        return await ask(this.pool, query, parameters);
      } catch (error) {
        this.count('failed');
        // The replica is not used until it answers the next check. A statement that was cancelled by recovery does not
        // affect others.
        if (isUnavailable(error)) this.seen = null;
        return null;
      }
    });
  }

  count(outcome: ReplicaOutcome): void {
    this.outcomes[outcome] += 1;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const place of this.urls.keys()) this.drop(place);
    const ended = this.pool.end();
    // A server that hangs does not end its connections.
    for (const socket of this.sockets) socket.destroy();
    await ended;
  }

  private socket(): Socket {
    const socket = new Socket();
    this.sockets.add(socket);
    return socket.once('close', () => this.sockets.delete(socket));
  }

  private get url(): string {
    return this.urls[this.used] ?? '';
  }

  /** Asks the current host, and the others if it is not a standby or does not answer. */
  private async lookAt(): Promise<void> {
    await this.notePosition();
    const places = [this.used, ...[...this.urls.keys()].filter((place) => place !== this.used)];
    let any: { place: number; seen: Seen } | null = null;
    for (const place of places) {
      const seen = await this.stateOf(place);
      if (seen === null) continue;
      any ??= { place, seen };
      if (!seen.isStandby) continue;
      any = { place, seen };
      break;
    }
    if (any !== null) this.used = any.place;
    this.seen = any?.seen ?? null;
  }

  /** Returns null if it does not answer as the application's role. */
  private async stateOf(place: number): Promise<Seen | null> {
    try {
      const client = this.looks.get(place) ?? (await this.open(place));
      const { rows } = await within(ANSWER_MS, client.query<Seen>(LOOK));
      const [seen] = rows;
      return seen?.actsAs === this.settings.role ? seen : null;
    } catch {
      this.drop(place);
      return null;
    }
  }

  private async open(place: number): Promise<Client> {
    const { applicationName, options } = this.settings;
    const client = new Client({
      connectionString: this.urls[place] ?? '',
      application_name: applicationName,
      options,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      stream: () => this.socket(),
    });
    this.looks.set(place, client);
    await client.connect();
    return client;
  }

  private drop(place: number): void {
    const client = this.looks.get(place);
    this.looks.delete(place);
    // A client that hangs never confirms its end, so nobody waits for it.
    client?.end().catch(() => undefined);
  }

  /** Remembers the current position of the primary, if it answers. */
  private async notePosition(): Promise<void> {
    const atMs = performance.now();
    try {
      this.positions.push({ position: await within(ANSWER_MS, this.primaryPosition()), atMs });
    } catch {
      return;
    }
    if (this.positions.length > MAX_POSITIONS) this.positions.shift();
  }
}
