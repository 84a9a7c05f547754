import type { TrustStore } from '@identity-state/client';

/** Keeps the browser's checkpoints in memory. */
export const checkpoints = new Map<string, string>();

/** Replaces the store in IndexedDB, which jsdom does not have. */
export class IndexedDbTrustStore implements TrustStore {
  async read(origin: string): Promise<string | undefined> {
    return checkpoints.get(origin);
  }

  async replace(origin: string, before: string | undefined, note: string): Promise<boolean> {
    if (checkpoints.get(origin) !== before) return false;
    checkpoints.set(origin, note);
    return true;
  }
}
