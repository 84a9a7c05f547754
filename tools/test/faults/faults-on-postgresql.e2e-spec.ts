import { type Product, startProduct } from '../../testing/product.ts';
import { crashes } from './crashes.ts';
import { postgresOutages } from './outages.ts';
import { receivers } from './receivers.ts';
import { shutdown, SHUTDOWN_TIMEOUT_MS } from './shutdown.ts';
import { workload } from './workload.ts';

jest.setTimeout(240_000);

let product: Product;

beforeAll(async () => {
  product = await startProduct({
    queue: 'postgresql',
    env: {
      SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS),
      SWEEP_INTERVAL_MS: '300',
      WEBHOOK_TOTAL_TIMEOUT_MS: '1500',
      WEBHOOK_RETRY_SCHEDULE_MS: '200,400,800,1600,3200,6400',
    },
  });
});

afterAll(() => product?.close());

workload(() => product);
receivers(() => product);
postgresOutages(() => product);
crashes(() => product);
shutdown(() => product);

it('no process logged an error or ended by itself', () => {
  expect(product.faults()).toEqual([]);
});
