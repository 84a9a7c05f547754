import type { FactStep } from '@iss/persistence';
import type { Logger } from '@iss/platform';
import type { EventQueue } from '@iss/queue';
import { addJitter, Rounds } from '../rounds';

/** Facts per transaction. */
const BATCH = 500;

/** Repeats steps that record facts, and wakes the fan-out of their events. A step that fails delays no other. */
export class Recorder {
  private readonly rounds: readonly Rounds[];

  constructor(
    steps: readonly ((limit: number) => Promise<FactStep>)[],
    failure: string,
    queue: Pick<EventQueue, 'wakeFanout'>,
    logger: Logger,
    intervalMs: number,
  ) {
    this.rounds = steps.map((step) => {
      const record = async (): Promise<boolean> => {
        const { eventIds, isMore } = await step(BATCH);
        // Without the queue, the sweep finds these events.
        await queue.wakeFanout(eventIds).catch(() => undefined);
        return isMore;
      };
      const work = (rounds: Rounds): Promise<void> => rounds.repeat(record);
      return new Rounds({ work, pauseMs: addJitter(intervalMs), failure, logger });
    });
  }

  start(): void {
    for (const rounds of this.rounds) rounds.start();
  }

  /** Resolves when the current batches have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.rounds.map((rounds) => rounds.stop()));
  }
}
