import { startTestServices } from './services.ts';

/**
 * Jest's `globalSetup` of the projects with integration tests. `npm test` has started the services already; a spec that
 * is run alone gets its own.
 */
export default async function globalSetup(): Promise<void> {
  stopTestServices.current = await startTestServices();
}

/** Jest loads setup and teardown as separate modules of one process; only globals pass between them. */
export const stopTestServices: { current?: () => Promise<void> } = ((
  globalThis as { issTestServices?: { current?: () => Promise<void> } }
).issTestServices ??= {});
