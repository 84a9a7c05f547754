import { serverUrls, within } from '@iss/platform';
import { Client } from 'pg';

/** A server that does not answer within this time is passed over. */
const ANSWER_MS = 1_500;
/** Between two looks at the server that is used. */
const LOOK_MS = 500;
/** Between two rounds through all of them while none takes writes. */
const ROUND_PAUSE_MS = 200;

const IS_READ_ONLY = `SELECT current_setting('transaction_read_only') AS "isReadOnly"`;

/** The server takes no writes: a standby, or one that was demoted. */
class ReadOnlyServer extends Error {
  override readonly name = 'ReadOnlyServer';
  readonly code = '25006';
}

/**
 * The servers of a URL, of which one takes writes. Where there are several, the one that is used is looked at twice a
 * second, by a connection of its own: when it is gone or was demoted, the others are asked, and whoever listens is told
 * which one it is now.
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

  /** Of the one that took writes when it was looked at last. */
  get url(): string {
    return this.urls[this.used] ?? '';
  }

  get areSeveral(): boolean {
    return this.urls.length > 1;
  }

  /** The URL of the first that takes writes; rejects as the last one that was asked did. A single one is not asked. */
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

  /** Watches the server that is used, until {@link close}. A single one is not watched: nobody could be asked instead. */
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
    // At once, not at the next look.
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

  /** Asks all of them in turn until one takes writes. */
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

/** The URL of the server that takes writes, for what connects once. */
export function writableUrl(url: string): Promise<string> {
  return new Servers(url).find();
}

async function connectWritable(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS });
  // The failure rejects the statement under way; without a listener it would end the process.
  client.on('error', () => undefined);
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
