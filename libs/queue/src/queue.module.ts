import { type DynamicModule, Global, Module } from '@nestjs/common';
import { EventQueue } from './event-queue';

/** The queue, for every module of an app. Whoever opened it closes it, after the app. */
@Global()
@Module({})
export class QueueModule {
  static of(queue: EventQueue): DynamicModule {
    const providers = [{ provide: EventQueue, useValue: queue }];
    return { module: QueueModule, providers, exports: providers };
  }
}
