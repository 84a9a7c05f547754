import {
  FeedIntegrationStore,
  LogCheckpointStore,
  LogIntegrationStore,
  LogTileStore,
  MapBackfillStore,
  type Sql,
  ViewStore,
} from '@iss/persistence';
import type { Logger, LogSettings } from '@iss/platform';
import type { Registry } from 'prom-client';
import { MapBackfill } from '../src/log/map-backfill';
import { openMapKeys } from '../src/log/map-keys';
import { openLogIdentity } from '../src/log/log-identity';
import { LogMetrics } from '../src/log/log-metrics';
import { LogPublication } from '../src/log/publication';
import { ViewMaker } from '../src/log/views/view-maker';
import { FeedProjection } from '../src/projections/feed';
import { LogProjection } from '../src/projections/log';

export type LogWorker = Pick<LogProjection, 'status' | 'stop'>;

/** Starts the part of a worker that makes the log and the feeds. */
export async function startLogWorker(
  sql: Sql,
  settings: { log: LogSettings; vrfKey?: string | undefined },
  registry: Registry,
  logger: Logger,
): Promise<LogWorker> {
  const [integration, checkpoints] = [new LogIntegrationStore(sql), new LogCheckpointStore(sql)];
  const [tiles, metrics] = [new LogTileStore(sql), new LogMetrics(registry)];
  const identity = await openLogIdentity(settings.log);
  const mapKeys = await openMapKeys(settings.log.origin, settings.vrfKey);
  const publication = new LogPublication(integration, checkpoints, tiles, metrics, logger, settings, identity);
  const feed = new FeedProjection(new FeedIntegrationStore(sql), logger, settings);
  const backfill = new MapBackfill(new MapBackfillStore(sql), mapKeys);
  const views = new ViewMaker(new ViewStore(sql));
  const log = new LogProjection(integration, publication, feed, logger, settings, mapKeys, backfill, views);
  feed.start();
  log.start();
  return {
    status: () => log.status(),
    stop: async () => {
      await Promise.all([log.stop(), feed.stop()]);
      await mapKeys?.close();
    },
  };
}
