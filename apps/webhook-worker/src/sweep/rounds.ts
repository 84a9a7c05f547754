/** Repeats some work, never twice at once. */
export class Rounds {
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  private isStopped = false;

  /** `work` returns the milliseconds until it is repeated. It must not reject. */
  constructor(private readonly work: () => Promise<number>) {}

  start(): void {
    this.schedule(0);
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.round;
  }

  private schedule(pauseMs: number): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.round = this.work().then((pause) => this.schedule(pause));
    }, pauseMs);
  }
}

/** Adds or subtracts up to a quarter, so that several workers do not run in step. */
export function jittered(pauseMs: number): number {
  return pauseMs * (0.75 + 0.5 * Math.random());
}
