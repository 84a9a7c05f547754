import { type DynamicModule, Global, Module } from '@nestjs/common';
import { EventQueue } from './event-queue';

/** Provides the queue to every module of an app. The code that opened the queue closes it after the app. */
@Global()
@Module({})
export class QueueModule {
  static of(queue: EventQueue): DynamicModule {
    const providers = [{ provide: EventQueue, useValue: queue }];
    return { module: QueueModule, providers, exports: providers };
  }
}
