import {
  FeedIntegrationStore,
  LogCheckpointStore,
  LogIntegrationStore,
  LogTileStore,
  openDatabase,
} from '@iss/persistence';
import { generateKeys } from '@iss/tlog';
import { CheckpointPublisher } from '../../webhook-worker/src/log/checkpoint-publisher';
import { growTree } from '../../webhook-worker/src/log/grow-tree';
import { openLogIdentity } from '../../webhook-worker/src/log/log-identity';

/** More than any test writes. */
const ALL = 100_000;

/** Puts everything that waits into the log of a database and the feeds, and publishes it, as a worker does; gives the verifier key. */
export async function publishLog(databaseUrl: string): Promise<{ vkey: string; size: number }> {
  const { sql, ...database } = await open(databaseUrl);
  try {
    const stores = {
      integration: new LogIntegrationStore(sql),
      checkpoints: new LogCheckpointStore(sql),
      tiles: new LogTileStore(sql),
    };
    const round = await stores.integration.integrate(ALL, growTree);
    if (round === null) throw new Error('somebody else integrates');
    const feeds = new FeedIntegrationStore(sql);
    while ((await feeds.feed())?.isMore === true);
    const origin = 'log.example/test';
    const { signingKey, verifierKey } = await generateKeys(origin, 'ed25519');
    const settings = {
      origin,
      signingKeys: [signingKey],
      pqSigningKey: undefined,
      checkpointIntervalMs: 1000,
      checkpointMaxAgeMs: 1000,
      checkpointFile: undefined,
      policyFile: undefined,
    };
    const identity = await openLogIdentity(settings);
    if (identity === null) throw new Error('there is a key');
    const nobody = (): void => undefined;
    const publisher = await CheckpointPublisher.open(identity, settings, stores, nobody, nobody);
    await publisher.publish(round.tree);
    return { vkey: verifierKey, size: round.tree.size };
  } finally {
    await database.close();
  }
}

async function open(url: string) {
  const database = await openDatabase({ url, poolSize: 2, applicationName: 'test-log' });
  return { sql: database.sql, close: () => database.close() };
}
