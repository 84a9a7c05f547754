import { OutboxProjectionStore } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type WorkerSettings } from '../settings';
import { Recorder } from './recorder';

/** Records the marked facts about grants and shared subjects, without regard to the log. Any number of workers may do so. */
@Injectable()
export class OutboxProjection extends Recorder {
  constructor(
    store: OutboxProjectionStore,
    @Inject(EventQueue) queue: Pick<EventQueue, 'wakeFanout'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) { sweepIntervalMs }: Pick<WorkerSettings, 'sweepIntervalMs'>,
  ) {
    const failure = 'The events of grants and shared subjects could not be stored; retrying';
    super([(limit) => store.project(limit)], failure, queue, logger, sweepIntervalMs);
  }
}
