import { stopTestServices } from './global-setup.ts';

/** Jest's `globalTeardown`: stops the services that `global-setup.ts` has started. */
export default async function globalTeardown(): Promise<void> {
  await stopTestServices.current?.();
}
