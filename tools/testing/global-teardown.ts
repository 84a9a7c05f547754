import { stopTestServices } from './global-setup.ts';

/** Jest's `globalTeardown`: stops what `global-setup.ts` has started. */
export default async function globalTeardown(): Promise<void> {
  await stopTestServices.current?.();
}
