/** How a web server should serve an object. */
export interface ObjectHeaders {
  readonly contentType: string;
  readonly cacheControl: string;
}

/** Objects by name. All methods reject if the store fails, and may reject once the signal is aborted. */
export interface ObjectStore {
  /** Stores an object durably, in place of an existing one. A folder does not keep the headers. */
  put(name: string, bytes: Buffer, signal: AbortSignal, headers?: ObjectHeaders): Promise<void>;
  /** Returns this range of an object, or fewer bytes if the object ends earlier. Throws {@link ObjectMissing}. */
  read(name: string, offset: number, length: number, signal: AbortSignal): Promise<Buffer>;
  /** Deletes an object. Also resolves if there is none. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** Rejects if the store does not answer, or refuses this process. */
  ping(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The store answers, and has no such object. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing';

  constructor(object: string) {
    super(`The archive has no object ${object}`);
  }
}
