import { NestLogger } from '@iss/platform';
import type { DeliveryRef } from '@iss/queue';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { setTimeout as wait } from 'node:timers/promises';
import { Archiver } from './archive/archiver';
import { DeliveryService } from './delivery/delivery.service';
import { Dispatcher } from './delivery/dispatcher';
import { WebhookClient } from './delivery/webhook-client';
import { FanoutService } from './fanout/fanout.service';
import { LogCopy } from './log/log-copy';
import { openMapKeys } from './log/map-keys';
import { openLogIdentity } from './log/log-identity';
import { measureOutputs } from './log/log-metrics';
import { ExpiryProjection } from './projections/expiry';
import { FeedProjection } from './projections/feed';
import { LogProjection } from './projections/log';
import { OutboxProjection } from './projections/outbox';
import { EvidenceService } from './sweep/evidence.service';
import { RetentionService } from './sweep/retention.service';
import { StatusListService } from './sweep/status-list.service';
import { SweepService } from './sweep/sweep.service';
import { WorkerModule, type WorkerResources } from './worker.module';

/** A job contains a hundred ids and only passes them on, so a few concurrent jobs suffice. */
const FANOUT_JOBS_AT_ONCE = 2;
const DELIVERY_JOBS_AT_ONCE = 2;

/** Work that is repeated. Each projection reads the facts independently, so none waits for another. */
const REPEATED = [
  OutboxProjection,
  ExpiryProjection,
  LogProjection,
  LogCopy,
  FeedProjection,
  SweepService,
  RetentionService,
  EvidenceService,
  StatusListService,
  Archiver,
] as const;
interface Repeated {
  start(): void;
  stop(): Promise<void>;
}

export interface Worker {
  /** Listens for probes, starts to work, and returns the base URL. Rejects with EADDRINUSE if the port is taken. */
  start(port: number): Promise<string>;
  /** Starts no more attempts, gives running ones half of the shutdown time, and records the results of all. */
  stop(): Promise<void>;
}

/** Jobs of the previous version lack some members. The sweep finds their deliveries. */
const isWhole = ({ founderId, targetHost }: Partial<DeliveryRef>): boolean =>
  founderId !== undefined && targetHost !== undefined;

/** Creates the worker. Throws EnvError for unusable keys or an unusable policy of the log. */
export async function createWorker(resources: WorkerResources): Promise<Worker> {
  const { settings, queue, logger } = resources;
  const mapKeys = await openMapKeys(settings.log.origin, settings.vrfKey, measureOutputs(resources.metrics));
  const app = await NestFactory.create<NestExpressApplication>(
    WorkerModule.of(resources, await openLogIdentity(settings.log), mapKeys),
    {
      logger: new NestLogger(logger),
      abortOnError: false,
    },
  );
  app.disable('x-powered-by');
  const [fanout, dispatcher] = [app.get(FanoutService), app.get(Dispatcher)];
  const repeated = REPEATED.map((service) => app.get<Repeated>(service));
  return {
    async start(port) {
      await (settings.host === undefined ? app.listen(port) : app.listen(port, settings.host));
      queue.consume('fanout', ({ eventIds }) => fanout.fanOut(eventIds), { concurrency: FANOUT_JOBS_AT_ONCE });
      queue.consume('delivery', async ({ deliveries }) => dispatcher.offer(deliveries.filter(isWhole)), {
        concurrency: DELIVERY_JOBS_AT_ONCE,
      });
      for (const service of repeated) service.start();
      return (await app.getUrl()).replace('[::1]', '127.0.0.1');
    },
    // Listed here instead of in Nest's hooks, whose order depends on the distance of modules, and whose failures are
    // only logged.
    async stop() {
      await Promise.all([...repeated.map((service) => service.stop()), queue.stopConsuming()]);
      await mapKeys?.close();
      const idle = dispatcher.close();
      const grace = new AbortController();
      await Promise.race([idle, wait(settings.shutdownTimeoutMs / 2, undefined, grace).catch(() => undefined)]);
      grace.abort();
      // Attempts that still run fail now, and are recorded while there is time.
      await app.get(WebhookClient).close();
      await idle;
      await app.get(DeliveryService).recorded();
      await app.close();
    },
  };
}
