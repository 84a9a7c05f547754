import type { TrustStore } from './verify/trust-store.ts';

export type { TrustStore } from './verify/trust-store.ts';

// The used part of IndexedDB, because this library is compiled without browser types.
interface Target {
  addEventListener(type: string, listener: () => void): void;
}
interface DatabaseRequest<Result> extends Target {
  readonly result: Result;
  readonly error: unknown;
}
interface ObjectStore {
  get(key: string): DatabaseRequest<unknown>;
  put(value: string, key: string): unknown;
}
interface Transaction extends Target {
  readonly error: unknown;
  objectStore(name: string): ObjectStore;
}
interface Database {
  createObjectStore(name: string): unknown;
  transaction(name: string, mode: 'readonly' | 'readwrite'): Transaction;
}
/** `globalThis.indexedDB`. */
export interface DatabaseFactory {
  open(name: string, version: number): DatabaseRequest<Database>;
}

const CHECKPOINTS = 'checkpoints';

/** Stores checkpoints in the browser for all pages of an origin. */
export class IndexedDbTrustStore implements TrustStore {
  private opened: Promise<Database> | undefined;

  constructor(
    private readonly factory: DatabaseFactory,
    private readonly name = 'identity-state',
  ) {}

  async read(origin: string): Promise<string | undefined> {
    const { value } = await this.within('readonly', origin, () => undefined);
    return value;
  }

  async replace(origin: string, before: string | undefined, note: string): Promise<boolean> {
    const { value } = await this.within('readwrite', origin, (store, kept) => {
      if (kept === before) store.put(note, origin);
    });
    return value === before;
  }

  /** Reads the stored value and runs `then` in the same transaction. */
  private async within(
    mode: 'readonly' | 'readwrite',
    origin: string,
    then: (store: ObjectStore, kept: string | undefined) => void,
  ): Promise<{ value: string | undefined }> {
    const database = await (this.opened ??= this.open());
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(CHECKPOINTS, mode);
      const store = transaction.objectStore(CHECKPOINTS);
      const request = store.get(origin);
      let value: string | undefined;
      request.addEventListener('success', () => {
        value = typeof request.result === 'string' ? request.result : undefined;
        then(store, value);
      });
      transaction.addEventListener('complete', () => resolve({ value }));
      for (const failure of ['error', 'abort']) {
        transaction.addEventListener(failure, () => reject(failed(transaction.error)));
      }
    });
  }

  private async open(): Promise<Database> {
    const request = this.factory.open(this.name, 1);
    return new Promise((resolve, reject) => {
      request.addEventListener('upgradeneeded', () => void request.result.createObjectStore(CHECKPOINTS));
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(failed(request.error)));
    });
  }
}

function failed(cause: unknown): Error {
  return new Error('The browser cannot keep checkpoints.', { cause });
}
