import { generateKeys } from '@iss/tlog';
import { type Product, startProduct } from '../../testing/product.ts';
import { logFaults } from './log.ts';

const ORIGIN = 'log.example/faults';

let product: Product;
let vkey: string;

jest.setTimeout(480_000);

/** Starts three workers. All integrate and sign as often as they can. */
beforeAll(async () => {
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  vkey = verifierKey;
  product = await startProduct({
    queue: 'postgresql',
    gateways: 0,
    workers: 3,
    env: { LOG_ORIGIN: ORIGIN, LOG_SIGNING_KEY: signingKey, LOG_CHECKPOINT_INTERVAL_MS: '10' },
  });
});

afterAll(() => product?.close());

logFaults(
  () => product,
  () => vkey,
);

it('no process logged an error or exited on its own', () => {
  expect(product.faults()).toEqual([]);
});
