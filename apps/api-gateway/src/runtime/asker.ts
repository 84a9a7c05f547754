/** The caller for whom work is done, and who is charged for it. */
export interface Charged {
  readonly principalId: string;
  /** True if nobody waits for the response any more; absent if unknown. */
  readonly isGone?: boolean;
}

/** A caller and its request. */
export interface Asker extends Charged {
  /** Identifies the request in headers, logs and records. */
  readonly requestId: string;
  /** Runs synchronous work on this thread and charges its processor time to the caller. */
  measured<T>(work: () => T): T;
}
