import { crashes } from './crashes.ts';
import { postgresOutages, redisOutages } from './outages.ts';
import { changes } from './receivers.ts';
import { faultsOn } from './scene.ts';
import { stops } from './shutdown.ts';
import { workload } from './workload.ts';

faultsOn('redis', (product) => {
  workload(product);
  changes(product);
  redisOutages(product);
  postgresOutages(product, ['immediately']);
  crashes(product);
  stops(product);
});
