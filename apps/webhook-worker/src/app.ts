import { NestLogger } from '@iss/platform';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DeliveryService } from './delivery/delivery.service';
import { Dispatcher } from './delivery/dispatcher';
import { WebhookClient } from './delivery/webhook-client';
import { FanoutService } from './fanout/fanout.service';
import { SweepService } from './sweep/sweep.service';
import { WorkerModule, type WorkerResources } from './worker.module';

/** A job holds a hundred ids and only hands them on, so that few at once keep everything busy. */
const FANOUT_JOBS_AT_ONCE = 2;
const DELIVERY_JOBS_AT_ONCE = 2;

export interface Worker {
  /** Listens for probes, then takes up work. Rejects with EADDRINUSE when the port is taken. */
  start(port: number): Promise<void>;
  /** Takes up nothing more, waits for the attempts that run and records them. */
  stop(): Promise<void>;
}

/** The worker as it runs. */
export async function createWorker(resources: WorkerResources): Promise<Worker> {
  const { queue, logger } = resources;
  const app = await NestFactory.create<NestExpressApplication>(WorkerModule.of(resources), {
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  app.disable('x-powered-by');
  const [fanout, dispatcher, sweep] = [app.get(FanoutService), app.get(Dispatcher), app.get(SweepService)];
  return {
    async start(port) {
      await app.listen(port);
      queue.consume('fanout', ({ eventIds }) => fanout.fanOut(eventIds), { concurrency: FANOUT_JOBS_AT_ONCE });
      queue.consume('delivery', async ({ deliveries }) => dispatcher.offer(deliveries), {
        concurrency: DELIVERY_JOBS_AT_ONCE,
      });
      sweep.start();
    },
    async stop() {
      await sweep.stop();
      await dispatcher.close();
      await app.get(DeliveryService).recorded();
      await app.get(WebhookClient).close();
      await app.close();
    },
  };
}
