/** The command was called wrongly: exit code 2. The message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** It was called rightly and could not be done: exit code 1. The message says why, and the way out. */
export class Failure extends Error {
  override readonly name = 'Failure';
}
