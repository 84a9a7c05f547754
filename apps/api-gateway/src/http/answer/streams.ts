import type { ServerResponse } from 'node:http';
import { DomainError } from '@iss/domain';
import { Shares } from '@iss/platform';
import type { EndedRequests } from './ended-requests';

/** Each holds some MiB while its peer reads: a batch of rows, as it came and as text. */
export const MAX_STREAMS = 12;
/** Of one principal alone a quarter, fewer among others; so many of each in any case. */
const OWN_STREAMS = 1;
/** Who has not taken a piece by then is slower than others may be made to wait for. */
const PATIENCE_MS = 1_000;

/**
 * The answers that are being sent in parts, so many at once at most. Where there is no room for one more, the one whose
 * peer has taken nothing whole for longest makes it, unless all of them read fast.
 */
export class Streams {
  /** Since when each waits for its peer; Infinity while it does not. */
  private readonly waitingSince = new Map<ServerResponse, number>();

  private readonly shares = new Shares(MAX_STREAMS, OWN_STREAMS);

  constructor(
    private readonly ended: EndedRequests,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Throws `unavailable` when there is no room, or none for this principal. */
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

  /** Writes a part, and resolves when there is room for more or nobody reads any more. */
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
