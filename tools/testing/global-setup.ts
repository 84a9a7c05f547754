import { ensureBuilt } from '../build.ts';
import { startTestServices } from './services.ts';

/**
 * Jest's `globalSetup` of the projects with integration tests. Starts the services and builds the product, unless `npm test` has
 * done so already.
 */
export default async function globalSetup(): Promise<void> {
  const [built, started] = await Promise.allSettled([ensureBuilt(), startTestServices()]);
  if (started.status === 'rejected') throw started.reason;
  stopTestServices.current = started.value;
  if (built.status === 'rejected') {
    await started.value();
    throw built.reason;
  }
}

/** This is a global variable, because Jest loads setup and teardown as separate modules of one process. */
export const stopTestServices: { current?: () => Promise<void> } = ((
  globalThis as { issTestServices?: { current?: () => Promise<void> } }
).issTestServices ??= {});
