import { ensureBuilt } from '../build.ts';
import { startTestServices } from './services.ts';

/**
 * Jest's `globalSetup` of the projects with integration tests. `npm test` has started the services already; a spec that
 * is run alone gets its own. So it is with what is compiled, which the gateway's threads run.
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

/** Jest loads setup and teardown as separate modules of one process; only globals pass between them. */
export const stopTestServices: { current?: () => Promise<void> } = ((
  globalThis as { issTestServices?: { current?: () => Promise<void> } }
).issTestServices ??= {});
