import { type Logger, rarely, type Warn, warnTo } from '@iss/platform';

/** Work that is repeated. */
export interface RepeatedWork {
  /** Does the work once. A returned number replaces the pause after it, in milliseconds. */
  work: (rounds: Rounds) => Promise<number | void>;
  pauseMs: number;
  /** The message if the work fails. It is repeated after the pause. */
  failure: string;
  logger: Logger;
}

/** Repeats some work, never twice at once. Stops after the current step. */
export class Rounds {
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  private isRunning = false;
  private isWoken = false;
  private isStopped = false;
  private readonly warn: Warn;

  constructor(private readonly repeated: RepeatedWork) {
    this.warn = rarely(warnTo(repeated.logger));
  }

  get isStopping(): boolean {
    return this.isStopped;
  }

  start(): void {
    this.schedule(0);
  }

  /** Ends the pause. If the work is under way, it is repeated at once. */
  wake(): void {
    this.isWoken = this.isRunning;
    if (this.timer !== undefined && !this.isRunning) this.schedule(0);
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.round;
  }

  /** Repeats a step while it returns true, until the rounds are stopped. */
  async repeat(step: () => Promise<boolean>): Promise<void> {
    for (let isMore = true; isMore && !this.isStopped;) isMore = await step();
  }

  private schedule(pauseMs: number): void {
    clearTimeout(this.timer);
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.isRunning = true;
      this.round = this.run().then((pause) => {
        this.isRunning = false;
        this.schedule(this.isWoken ? 0 : pause);
        this.isWoken = false;
      });
    }, pauseMs);
  }

  /** Returns the pause before the next round. */
  private async run(): Promise<number> {
    const { work, pauseMs, failure } = this.repeated;
    try {
      return (await work(this)) ?? pauseMs;
    } catch (error) {
      this.warn(failure, error);
      return pauseMs;
    }
  }
}

/** Adds or subtracts up to a quarter, so that several workers do not run in step. */
export function addJitter(pauseMs: number): number {
  return pauseMs * (0.75 + 0.5 * Math.random());
}
