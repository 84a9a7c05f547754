import { IS_EXHAUSTIVE } from '../../testing/runs.ts';
import { gatewayCrashes, workerCrashes } from './crashes.ts';
import { postgresOutages, redisOutages } from './outages.ts';
import { changes } from './receivers.ts';
import { faultsOn } from './scene.ts';
import { stops } from './shutdown.ts';
import { workload } from './workload.ts';

faultsOn('redis', (product) => {
  changes(product);
  redisOutages(product);
  workerCrashes(product);
  stops(product);
  if (!IS_EXHAUSTIVE) return;
  workload(product);
  postgresOutages(product, ['immediately']);
  gatewayCrashes(product);
});
