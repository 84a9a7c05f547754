import { within } from '@iss/platform';

/** A probe waits at most a second, which is the default of Kubernetes. */
const READ_TIMEOUT_MS = 500;

/**
 * Watches one kind of work. It is stuck if an item has been due for `limitMs`, has been seen as due for another
 * `limitMs`, and nothing was done here in all that time. If the database is unreachable, the work is waiting and not
 * stuck, because a restart would not help.
 */
export class WorkWatch {
  private movedAtMs: number;
  private lateSinceMs: number | undefined;

  constructor(
    private readonly oldestDueMs: () => Promise<number>,
    private readonly limitMs: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.movedAtMs = nowMs();
  }

  /** Notes that an item of the work was done, or found done. */
  moved(): void {
    this.movedAtMs = this.nowMs();
  }

  async isStuck(): Promise<boolean> {
    if (this.nowMs() - this.movedAtMs < this.limitMs || !(await this.isLate())) {
      this.lateSinceMs = undefined;
      return false;
    }
    this.lateSinceMs ??= this.nowMs();
    return this.nowMs() - this.lateSinceMs >= this.limitMs;
  }

  private async isLate(): Promise<boolean> {
    return (await within(READ_TIMEOUT_MS, this.oldestDueMs()).catch(() => 0)) >= this.limitMs;
  }
}

/**
 * Decides whether the worker is alive. A worker can hang while its process still answers. Events and deliveries are
 * watched separately, because one may hang while the other continues.
 */
export class Liveness {
  constructor(
    readonly events: WorkWatch,
    readonly deliveries: WorkWatch,
  ) {}

  async isAlive(): Promise<boolean> {
    const stuck = await Promise.all([this.events.isStuck(), this.deliveries.isStuck()]);
    return !stuck.includes(true);
  }
}
