/**
 * Where the newest checkpoint of each log is kept, by the log's name. What forgets can be shown another history: use one
 * that lasts (`@identity-state/client/node`, `…/indexeddb`) where the process does not.
 */
export interface TrustStore {
  /** The note that is kept; undefined: none. */
  read(origin: string): Promise<string | undefined>;
  /** Keeps another note, if what is kept is still `before`. False where somebody else was faster: read again. */
  replace(origin: string, before: string | undefined, note: string): Promise<boolean>;
}

/** Keeps as long as the process lives. */
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
