import { setTimeout as pause } from 'node:timers/promises';
import type { Reader } from '@iss/domain';
import type { LogCheckpoint } from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { Founders } from '../access/founders';
import { HeldPlaces } from '../access/held-places';
import { LogTreeService, notLoggedYet } from './log-tree.service';

/** How often a waiting request checks the log. It holds no connection in between. */
const WAIT_STEP_MS = 100;

/** Waiting requests, in total and per principal. Any further request is immediately told to try again. */
export const MAX_WAITING = 100;
export const MAX_WAITING_PER_PRINCIPAL = 20;

/** Lets requests wait until a committed fact is in the published log. */
@Injectable()
export class LogWaiting {
  private readonly places = new HeldPlaces(MAX_WAITING, MAX_WAITING_PER_PRINCIPAL);

  constructor(
    @Inject(Founders) private readonly founders: Pick<Founders, 'of'>,
    @Inject(LogTreeService) private readonly tree: Pick<LogTreeService, 'checkpoint'>,
    @Inject(Registry) metrics: Registry,
  ) {
    const count = (): number => this.places.inUse;
    new Gauge({
      name: 'log_requests_waiting',
      help: `Requests that wait for a fact to appear in the published log; at most ${MAX_WAITING}`,
      registers: [metrics],
      collect() {
        this.set(count());
      },
    });
  }

  /**
   * Returns an entry as soon as it is found, with a published checkpoint whose tree contains it. Throws
   * `not_logged_yet`.
   */
  async published<Entry extends { logIndex: number }>(
    { principalId, tenantId }: Reader,
    find: () => Promise<Entry | null>,
    waitSeconds: number,
  ): Promise<{ entry: Entry; checkpoint: LogCheckpoint }> {
    const deadlineMs = performance.now() + waitSeconds * 1000;
    for (;;) {
      const [entry, checkpoint] = await Promise.all([find(), this.tree.checkpoint()]);
      if (entry !== null && checkpoint !== null && entry.logIndex < checkpoint.size) return { entry, checkpoint };
      // Without an acting tenant, the principal itself counts.
      const founderId = tenantId === null ? principalId : await this.founders.of(tenantId);
      const leave = this.places.take(principalId, founderId);
      if (leave === null)
        throw notLoggedYet(
          'This is not in the published log yet, and too many requests wait for the log, yours or in total.',
        );
      const isGrown = await this.grown(checkpoint?.size ?? 0, deadlineMs).finally(leave);
      if (!isGrown) throw notLoggedYet('This is not in the published log yet.');
    }
  }

  /**
   * Returns whether a larger tree was published in time. Reads only the checkpoint, which all waiting requests share.
   */
  private async grown(size: number, deadlineMs: number): Promise<boolean> {
    while (performance.now() + WAIT_STEP_MS <= deadlineMs) {
      await pause(WAIT_STEP_MS);
      if (((await this.tree.checkpoint())?.size ?? 0) > size) return true;
    }
    return false;
  }
}
