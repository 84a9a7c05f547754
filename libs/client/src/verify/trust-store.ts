/**
 * Stores the newest checkpoint of each log by the name of the log. If it is lost, the client cannot notice that the log shows another
 * history. Short-lived processes need a persistent store (`@identity-state/client/node`, `…/indexeddb`).
 */
export interface TrustStore {
  /** Returns the stored note; undefined if there is none. */
  read(origin: string): Promise<string | undefined>;
  /** Replaces the note if it is still `before`. Returns false if another writer was faster. */
  replace(origin: string, before: string | undefined, note: string): Promise<boolean>;
}

/** Stores notes in memory. */
export class MemoryTrustStore implements TrustStore {
  private readonly notes = new Map<string, string>();

  async read(origin: string): Promise<string | undefined> {
    return this.notes.get(origin);
  }

  async replace(origin: string, before: string | undefined, note: string): Promise<boolean> {
    if (this.notes.get(origin) !== before) return false;
    this.notes.set(origin, note);
    return true;
  }
}
