/** For whom work is done. */
export interface Asker {
  readonly principalId: string;
  /** Whether nobody waits for the answer any more; absent: not known. */
  readonly isGone?: boolean;
}
