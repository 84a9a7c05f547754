/** Wrong usage or invalid input: exit code 2. The message says how to correct it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command failed or was refused: exit code 1. The message says why, and what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
}
