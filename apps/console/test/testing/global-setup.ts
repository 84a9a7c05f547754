import startServices from '../../../../tools/testing/global-setup.ts';
import { type StartedService, startService } from '../../../../tools/testing/started-service.ts';

/** Jest loads setup and teardown as separate modules of one process; only globals pass between them. */
export const started: { product?: StartedService } = ((
  globalThis as { issConsoleTests?: { product?: StartedService } }
).issConsoleTests ??= {});

/** Jest's `globalSetup`: starts one product with the whole world of `npm start`, for all suites of the console. `scene.ts` finds it.
 * The suites share its few users, and so their rate limits. */
export default async function globalSetup(): Promise<void> {
  await startServices();
  const product = await startService({
    ...{ SEED: 'true', RATE_LIMIT_PER_MINUTE: '1000000' },
  });
  started.product = product;
  process.env['CONSOLE_TEST_PRODUCT'] = JSON.stringify({ baseUrl: product.baseUrl, dataFolder: product.dataFolder });
}
