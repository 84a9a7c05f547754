import { serverUrls, within } from '@iss/platform';
import { Client } from './client';

/** A server that does not answer within this time is skipped. */
const ANSWER_MS = 1_500;
/** The interval between two checks of the current server. */
const LOOK_MS = 500;
/** The pause between two rounds through all servers while none takes writes. */
const ROUND_PAUSE_MS = 200;

const IS_READ_ONLY = `SELECT current_setting('transaction_read_only') AS "isReadOnly"`;

/** The server takes no writes: it is a standby, or was demoted. */
class ReadOnlyServer extends Error {
  override readonly name = 'ReadOnlyServer';
  readonly code = '25006';
}

/**
 * The servers of a URL, one of which takes writes. If there are several, a connection of its own checks the current server twice
 * a second. When that server is gone or demoted, the others are asked, and `onMove` is called if another one takes writes.
 */
export class Servers {
  private readonly urls: readonly string[];
  private used = 0;
  private probe: Client | null = null;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private searching: Promise<void> | null = null;

  constructor(
    url: string,
    private readonly onMove: () => void = () => undefined,
  ) {
    const urls = serverUrls(url);
    this.urls = urls.length === 0 ? [url] : urls;
  }

  /** The URL of the server that took writes at the last check. */
  get url(): string {
    return this.urls[this.used] ?? '';
  }

  get areSeveral(): boolean {
    return this.urls.length > 1;
  }

  /**
   * Returns the URL of the first server that takes writes. Rejects with the error of the last one that was asked. A single server
   * is not asked.
   */
  async find(): Promise<string> {
    if (!this.areSeveral) return this.url;
    let failure: unknown;
    for (let step = 0; step < this.urls.length; step += 1) {
      const place = (this.used + step) % this.urls.length;
      try {
        const client = await connectWritable(this.urls[place] ?? '');
        await client.end().catch(() => undefined);
        this.used = place;
        return this.url;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  /** Checks the current server until {@link close}. A single server is not checked, because there is no alternative. */
  watch(): void {
    if (!this.areSeveral) return;
    const look = (): void => {
      if (this.isClosed) return;
      this.timer = setTimeout(() => void this.look().then(look, look), LOOK_MS).unref();
    };
    look();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.drop();
  }

  private async look(): Promise<void> {
    try {
      this.probe ??= await this.open();
      await requireWritable(this.probe);
    } catch {
      await this.drop();
      await this.move();
    }
  }

  private async open(): Promise<Client> {
    const client = await connectWritable(this.url);
    // Reacts at once, not at the next check.
    client.once('end', () => {
      if (this.probe === client)
        void this.drop().then(
          () => this.move(),
          () => undefined,
        );
    });
    return client;
  }

  private async drop(): Promise<void> {
    const { probe } = this;
    this.probe = null;
    await probe?.end().catch(() => undefined);
  }

  /** Asks all servers in turn until one takes writes. */
  private move(): Promise<void> {
    this.searching ??= this.search().finally(() => (this.searching = null));
    return this.searching;
  }

  private async search(): Promise<void> {
    const before = this.used;
    while (!this.isClosed) {
      try {
        await this.find();
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, ROUND_PAUSE_MS).unref());
      }
    }
    if (this.used !== before && !this.isClosed) this.onMove();
  }
}

/** Returns the URL of the server that takes writes, for code that connects once. */
export function writableUrl(url: string): Promise<string> {
  return new Servers(url).find();
}

async function connectWritable(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS });
  try {
    await client.connect();
    await requireWritable(client);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function requireWritable(client: Client): Promise<void> {
  const { rows } = await within(ANSWER_MS, client.query<{ isReadOnly: string }>(IS_READ_ONLY));
  if (rows[0]?.isReadOnly !== 'off') throw new ReadOnlyServer('the server takes no writes');
}
