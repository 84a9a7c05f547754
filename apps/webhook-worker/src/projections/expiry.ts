import { GrantEndStore, RefreshDeadlineStore } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type WorkerSettings } from '../settings';
import { Recorder } from './recorder';

/**
 * Handles deadlines of grants and refresh requests: records them, and opens recurring requests. Any number of workers
 * may do so.
 */
@Injectable()
export class ExpiryProjection extends Recorder {
  constructor(
    grants: GrantEndStore,
    requests: RefreshDeadlineStore,
    @Inject(EventQueue) queue: Pick<EventQueue, 'wakeFanout'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) { sweepIntervalMs }: Pick<WorkerSettings, 'sweepIntervalMs'>,
  ) {
    const steps = [
      (limit: number) => grants.announceStarted(limit),
      (limit: number) => grants.announceExpiring(limit),
      (limit: number) => grants.announceExpired(limit),
      (limit: number) => requests.announceOverdue(limit),
      (limit: number) => requests.announceExpired(limit),
      (limit: number) => requests.openNext(limit),
    ];
    const failure = 'The deadlines of grants and refresh requests could not be handled; retrying';
    super(steps, failure, queue, logger, sweepIntervalMs);
  }
}
