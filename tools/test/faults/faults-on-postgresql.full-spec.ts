import { brokenBatches, crashes } from './crashes.ts';
import { postgresOutages } from './outages.ts';
import { changes, receivers } from './receivers.ts';
import { faultsOn } from './scene.ts';
import { drain, stops } from './shutdown.ts';
import { workload } from './workload.ts';

faultsOn('postgresql', (product) => {
  workload(product);
  receivers(product);
  changes(product);
  postgresOutages(product, ['properly', 'immediately', 'hanging']);
  crashes(product);
  brokenBatches(product);
  drain(product);
  stops(product);
});
