import { Socket } from 'node:net';
import { type DatabaseRole, replicaUrls, within } from '@iss/platform';
import { Client, type ClientConfig, Pool } from 'pg';
import { ask } from './sql/ask';
import { isUnavailable } from './sql/db-errors';
import { LoneStatements } from './sql/lone-statements';
import type { Statement } from './sql/statement';

export interface ReplicaSettings {
  /** Of one host or several, of which a standby is preferred. */
  url: string;
  poolSize: number;
  applicationName: string;
  /** The role that its connections act as. */
  role: DatabaseRole;
  /** Startup options of its connections, without the time that a statement may take. */
  options: string;
  /** Told the name of each statement that is sent. */
  observe: (statementName: string) => void;
}

/**
 * What became of a read that a replica could have answered: it did; it lacks a version that the primary has (`behind`); what
 * it has does not lead to the hash that the primary names (`differs`); it failed or was too slow (`failed`); it was not
 * asked (`away`). But for the first, the primary answered.
 */
export const REPLICA_OUTCOMES = ['answered', 'behind', 'differs', 'failed', 'away'] as const;
export type ReplicaOutcome = (typeof REPLICA_OUTCOMES)[number];

/** Whoever waits for longer is better served by the primary: a page is read in some milliseconds. */
const ANSWER_MS = 500;
/** Between two looks at it. */
const LOOK_MS = 1_000;
/** Positions of the primary that are remembered, one a look: a lag that is longer than all of them is at least that long. */
const POSITIONS_KEPT = 600;

/** Positions in the write-ahead log, in bytes. Null of a server that is no standby. */
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
 * A copy of the database, for reads that may be late. Nothing is decided by it, and nobody waits for it: what it cannot
 * answer at once the primary does. It is looked at once a second; where it does not answer, the other hosts are asked.
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

  /** `primaryPosition`: how far the primary's write-ahead log reaches, in bytes. */
  constructor(
    private readonly settings: ReplicaSettings,
    private readonly primaryPosition: () => Promise<number>,
  ) {
    this.urls = replicaUrls(settings.url);
    // So that the processes of a deployment spread over its replicas.
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
      // So that they come to a standby that is there again.
      maxLifetimeSeconds: 300,
      options: `${settings.options} -c statement_timeout=${ANSWER_MS}`,
      Client: class extends Client {
        constructor(config?: ClientConfig) {
          super({ ...config, connectionString: urlOf() });
        }
      },
    });
    // A connection that dies while idle is replaced by the pool; without a listener its error would end the process.
    this.pool.on('error', () => undefined);
  }

  /** Whether it answered when it was asked last. */
  get isThere(): boolean {
    return this.seen !== null;
  }

  /** Whether it follows a primary; null where it does not answer. */
  get isStandby(): boolean | null {
    return this.seen?.isStandby ?? null;
  }

  /** For how long what it lacks has been on the primary, in seconds; null where it is not known. */
  get lagSeconds(): number | null {
    if (this.seen === null) return null;
    const { position } = this.seen;
    if (position === null) return 0;
    const lacking = this.positions.find((known) => known.position > position);
    return lacking === undefined ? 0 : (performance.now() - lacking.atMs) / 1_000;
  }

  /** Looks at it now, and once a second until {@link close}. */
  async watch(): Promise<void> {
    await this.lookAt();
    const again = (): void => {
      if (this.isClosed) return;
      this.timer = setTimeout(() => void this.lookAt().then(again, again), LOOK_MS).unref();
    };
    again();
  }

  /**
   * The rows of a statement; null where it does not answer at once. Of one owner fewer are asked at once than there are
   * connections.
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
        // Until it answers the next look. A statement that its recovery ended says nothing of others.
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
    // A server that hangs says goodbye to nobody.
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

  /** Asks the host that is used, and the others while it is no standby or does not answer. */
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

  /** Null where it does not answer as the application's role. */
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
    // The failure rejects the statement under way; without a listener it would end the process.
    client.on('error', () => undefined);
    this.looks.set(place, client);
    await client.connect();
    return client;
  }

  private drop(place: number): void {
    const client = this.looks.get(place);
    this.looks.delete(place);
    // One that hangs never says that it ended.
    client?.end().catch(() => undefined);
  }

  /** How far the primary is at this moment; left out where it does not say so. */
  private async notePosition(): Promise<void> {
    const atMs = performance.now();
    try {
      this.positions.push({ position: await within(ANSWER_MS, this.primaryPosition()), atMs });
    } catch {
      return;
    }
    if (this.positions.length > POSITIONS_KEPT) this.positions.shift();
  }
}
