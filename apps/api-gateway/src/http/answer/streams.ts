import type { ServerResponse } from 'node:http';
import { DomainError } from '@iss/domain';
import { Shares } from '@iss/platform';
import type { EndedRequests } from '../server/ended-requests';

/** Each stream holds some MiB while its peer reads: a batch of rows, both as received and as text. */
export const MAX_STREAMS = 12;
/**
 * Streams that each principal gets in any case. Alone, a principal gets a quarter of all; fewer while others have
 * streams.
 */
const OWN_STREAMS = 1;
/** After this time, a peer that has not taken a piece may lose its stream to another one. */
const PATIENCE_MS = 1_000;

/**
 * Limits how many responses are sent in parts at once. If there is no room for another, the stream whose peer has been
 * blocked for longest is closed, unless all peers read fast.
 */
export class Streams {
  /** When each stream started to wait for its peer; Infinity while it does not wait. */
  private readonly waitingSince = new Map<ServerResponse, number>();

  private readonly shares = new Shares(MAX_STREAMS, OWN_STREAMS);

  constructor(
    private readonly ended: EndedRequests,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Registers a stream. Throws `unavailable` if there is no room, or none for this principal. */
  begin(response: ServerResponse, principalId: string): void {
    if (this.waitingSince.size >= MAX_STREAMS) this.endSlowest();
    if (!this.shares.admits(principalId)) {
      throw new DomainError('unavailable', 'Too many large responses are being sent. Try again shortly.');
    }
    this.waitingSince.set(response, Infinity);
    this.shares.take(principalId);
    response.once('close', () => {
      this.waitingSince.delete(response);
      this.shares.giveBack(principalId);
    });
  }

  /** Writes a part. Resolves when there is room for more, or when nobody reads any more. */
  async write(response: ServerResponse, text: string | Buffer): Promise<void> {
    if (response.destroyed || response.write(text)) return;
    if (this.waitingSince.has(response)) this.waitingSince.set(response, this.nowMs());
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        response.off('drain', settle).off('close', settle);
        resolve();
      };
      response.on('drain', settle).on('close', settle);
    });
    if (this.waitingSince.has(response)) this.waitingSince.set(response, Infinity);
  }

  private endSlowest(): void {
    const [slowest] = [...this.waitingSince].sort(([, one], [, other]) => one - other);
    if (slowest === undefined) return;
    const [response, since] = slowest;
    if (this.nowMs() - since < PATIENCE_MS) return;
    this.waitingSince.delete(response);
    this.ended.add('slow_stream');
    response.destroy();
  }
}
