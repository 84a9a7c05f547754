/** For whom work is done, and who is charged for it. */
export interface Charged {
  readonly principalId: string;
  /** Whether nobody waits for the answer any more; absent: not known. */
  readonly isGone?: boolean;
}

/** Whoever asks, and in which request. */
export interface Asker extends Charged {
  /** Names the request in headers, logs and records. */
  readonly requestId: string;
  /** Does work of this thread, in one piece, and charges what it takes of the processor. */
  measured<T>(work: () => T): T;
}
