import { within } from '@iss/platform';

/** A probe waits for a second at most, as Kubernetes does unless told otherwise. */
const READ_TIMEOUT_MS = 500;

/**
 * Watches over one kind of work. It is stuck when something has been due for `limitMs`, has been seen so for `limitMs`
 * more, and nothing was done here all that time. Whoever cannot tell what is due, because the database is away, is
 * waiting and not stuck: a restart would not mend that.
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

  /** A piece of the work was done, or found done. */
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
 * Whether the worker lives: it has been seen that workers hang while their process answers. Events and deliveries are
 * watched apart, since either may go on while the other hangs.
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
