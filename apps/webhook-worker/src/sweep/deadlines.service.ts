import { type Announced, GrantEndStore, RefreshDeadlineStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type WorkerSettings } from '../settings';
import { jittered, Rounds } from './rounds';

/** Grants or requests per transaction. */
const BATCH = 500;

/**
 * Handles deadlines of grants and refresh requests: announces them, and opens recurring requests. Any number of workers
 * may do so.
 */
@Injectable()
export class DeadlinesService {
  private readonly rounds = new Rounds(() => this.round());
  private isStopping = false;
  private readonly warn: Warn;
  private readonly steps: readonly ((limit: number) => Promise<Announced>)[];

  constructor(
    grants: GrantEndStore,
    requests: RefreshDeadlineStore,
    @Inject(EventQueue) private readonly queue: Pick<EventQueue, 'wakeFanout'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'sweepIntervalMs'>,
  ) {
    this.warn = rarely(warnTo(logger));
    this.steps = [
      (limit) => grants.announceExpiring(limit),
      (limit) => grants.announceExpired(limit),
      (limit) => requests.announceOverdue(limit),
      (limit) => requests.announceExpired(limit),
      (limit) => requests.openNext(limit),
    ];
  }

  start(): void {
    this.rounds.start();
  }

  /** Resolves when the current batch has ended. */
  stop(): Promise<void> {
    this.isStopping = true;
    return this.rounds.stop();
  }

  /** Runs one round. Returns the pause until the next one in milliseconds. */
  private async round(): Promise<number> {
    for (const step of this.steps) {
      try {
        for (let isMore = true; isMore && !this.isStopping;) {
          const announced = await step(BATCH);
          ({ isMore } = announced);
          // Without the queue, the sweep finds these events.
          await this.queue.wakeFanout(announced.eventIds).catch(() => undefined);
        }
      } catch (error) {
        this.warn('The deadlines of grants and refresh requests could not be handled; retrying', error);
      }
    }
    return jittered(this.settings.sweepIntervalMs);
  }
}
