import { IS_EXHAUSTIVE } from '../../testing/runs.ts';
import { brokenBatches, gatewayCrashes, workerCrashes } from './crashes.ts';
import { postgresOutages } from './outages.ts';
import { changes, receivers } from './receivers.ts';
import { faultsOn } from './scene.ts';
import { drain, stops } from './shutdown.ts';
import { workload } from './workload.ts';

faultsOn('postgresql', (product) => {
  workload(product);
  receivers(product);
  changes(product);
  postgresOutages(product, IS_EXHAUSTIVE ? ['properly', 'immediately', 'hanging'] : ['immediately', 'hanging']);
  workerCrashes(product);
  gatewayCrashes(product);
  brokenBatches(product);
  drain(product);
  stops(product);
});
