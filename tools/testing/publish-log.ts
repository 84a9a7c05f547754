import {
  FeedIntegrationStore,
  LogCheckpointStore,
  LogIntegrationStore,
  type LogRound,
  LogTileStore,
  MapBackfillStore,
  openDatabase,
  ViewStore,
} from '@iss/persistence';
import { generateKeys } from '@iss/tlog';
import { CheckpointPublisher } from '../../apps/webhook-worker/dist/log/checkpoint-publisher.js';
import { growTree, growTreeAndMap } from '../../apps/webhook-worker/dist/log/grow-tree.js';
import { openLogIdentity } from '../../apps/webhook-worker/dist/log/log-identity.js';
import { MapBackfill } from '../../apps/webhook-worker/dist/log/map-backfill.js';
import { openMapKeys } from '../../apps/webhook-worker/dist/log/map-keys.js';
import { ViewMaker } from '../../apps/webhook-worker/dist/log/views/view-maker.js';

/** All logs of the process use one key, since a database accepts no other key later. */
const ORIGIN = 'log.example/test';
const KEYS = generateKeys(ORIGIN, 'ed25519');

/** More than any test writes. */
const ALL = 100_000;
const BACKFILL_MS = 60_000;

/**
 * Integrates all waiting facts into the log of a database and into the feeds, and publishes a checkpoint, as a worker does.
 * Returns the verifier key and the size of the log. With a secret VRF key, such as `TEST_VRF_SECRET`, the log has a map.
 * Publishes no checkpoint if `publishes` is false, and commits to no views if `commitsViews` is false, as earlier releases did.
 */
export async function publishLog(
  databaseUrl: string,
  vrfSecret?: string,
  publishes = true,
  commitsViews = true,
): Promise<{ vkey: string; size: number }> {
  const database = await openDatabase({ url: databaseUrl, poolSize: 2, applicationName: 'test-log' });
  try {
    const { sql } = database;
    const stores = {
      integration: new LogIntegrationStore(sql),
      checkpoints: new LogCheckpointStore(sql),
      tiles: new LogTileStore(sql),
    };
    const mapKeys = await openMapKeys(ORIGIN, vrfSecret);
    const grow = mapKeys === null ? growTree : growTreeAndMap(mapKeys);
    // Gives keys to entries from before the map.
    await new MapBackfill(new MapBackfillStore(sql), mapKeys).work(BACKFILL_MS, () => false);
    const views = new ViewMaker(new ViewStore(sql));
    let round: LogRound | null;
    const prepare = () => (commitsViews ? views.prepare(ALL) : null);
    do round = await stores.integration.integrate(ALL, grow, mapKeys, await prepare());
    while (round?.isMore === true);
    await Promise.all([mapKeys?.close(), views.close()]);
    if (round === null) throw new Error('Another process integrates the log.');
    const feeds = new FeedIntegrationStore(sql);
    while ((await feeds.feed())?.isMore === true);
    while (await feeds.copy());
    const { signingKey, verifierKey } = await KEYS;
    const settings = {
      origin: ORIGIN,
      signingKeys: [signingKey],
      pqSigningKey: undefined,
      checkpointIntervalMs: 1000,
      checkpointMaxAgeMs: 1000,
      checkpointFile: undefined,
      policyFile: undefined,
    };
    const identity = await openLogIdentity(settings);
    if (identity === null) throw new Error('The log has no key.');
    const nobody = (): void => undefined;
    const publisher = await CheckpointPublisher.open(identity, settings, stores, nobody, nobody);
    if (publishes) await publisher.publish(round.tree, round.takenAt);
    return { vkey: verifierKey, size: round.tree.size };
  } finally {
    await database.close();
  }
}
