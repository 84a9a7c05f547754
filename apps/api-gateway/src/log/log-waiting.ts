import { setTimeout as pause } from 'node:timers/promises';
import type { Reader } from '@iss/domain';
import type { LogCheckpoint } from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { Founders } from '../access/founders';
import { HeldPlaces } from '../access/held-places';
import { LogTreeService, notLoggedYet } from './log-tree.service';

/** While it waits a request asks so often, and holds no connection in between. */
const WAIT_STEP_MS = 100;

/** Requests that wait at once, of one principal and in all; one more is told at once that it has to come again. */
export const MAX_WAITING = 100;
export const MAX_WAITING_PER_PRINCIPAL = 20;

/** Requests that wait until what is committed is in the published log. */
@Injectable()
export class LogWaiting {
  private readonly places = new HeldPlaces(MAX_WAITING, MAX_WAITING_PER_PRINCIPAL);

  constructor(
    @Inject(Founders) private readonly founders: Pick<Founders, 'of'>,
    @Inject(LogTreeService) private readonly tree: Pick<LogTreeService, 'checkpoint'>,
    @Inject(Registry) metrics: Registry,
  ) {
    const count = (): number => this.places.held;
    new Gauge({
      name: 'log_requests_waiting',
      help: `Requests that wait for a fact to appear in the published log; at most ${MAX_WAITING}`,
      registers: [metrics],
      collect() {
        this.set(count());
      },
    });
  }

  /** An entry, as soon as it is found, with a published checkpoint of a tree that has it. Throws `not_logged_yet`. */
  async published<Entry extends { logIndex: number }>(
    { principalId, tenantId }: Reader,
    find: () => Promise<Entry | null>,
    waitSeconds: number,
  ): Promise<{ entry: Entry; checkpoint: LogCheckpoint }> {
    const deadlineMs = performance.now() + waitSeconds * 1000;
    for (;;) {
      const [entry, checkpoint] = await Promise.all([find(), this.tree.checkpoint()]);
      if (entry !== null && checkpoint !== null && entry.logIndex < checkpoint.size) return { entry, checkpoint };
      // Where no tenant acts, the principal does.
      const founderId = tenantId === null ? principalId : await this.founders.of(tenantId);
      const leave = this.places.take(principalId, founderId);
      if (leave === null)
        throw notLoggedYet(
          'This is not in the published log yet, and too many requests wait for it, in total or by you.',
        );
      const isGrown = await this.grown(checkpoint?.size ?? 0, deadlineMs).finally(leave);
      if (!isGrown) throw notLoggedYet('This is not in the published log yet.');
    }
  }

  /** Whether a larger tree was published in time. Asks nothing but the checkpoint, which all who wait share. */
  private async grown(size: number, deadlineMs: number): Promise<boolean> {
    while (performance.now() + WAIT_STEP_MS <= deadlineMs) {
      await pause(WAIT_STEP_MS);
      if (((await this.tree.checkpoint())?.size ?? 0) > size) return true;
    }
    return false;
  }
}
