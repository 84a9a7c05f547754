/** What a log line says of a failure, and of what caused it. */
export interface Failure {
  type: string;
  message: string;
  /** SQLSTATE of the database, `errno` of the system, or the code of an API error. */
  code?: string;
  /** Who was asked: `host:port`. */
  host?: string;
  constraint?: string;
  table?: string;
  stack?: string;
  cause?: Failure;
}

/** Causes of causes: enough to come from an answer down to the socket. */
const MAX_DEPTH = 4;

/**
 * A failure for the log: only members that are named here. What else errors carry may hold what was stored or sent: the
 * database's own details quote rows.
 */
export function failureOf(error: unknown, depth = 0): Failure {
  // Not by class: a failure of Node's own comes from another realm in some hosts.
  if (typeof error !== 'object' || error === null) return { type: typeof error, message: String(error) };
  const message = textOf(error, 'message') ?? '';
  const { errors }: { errors?: unknown } = error;
  // Node tries each address of a name; all of them fail alike.
  if (message === '' && Array.isArray(errors) && errors.length > 0) return failureOf(errors[0], depth);
  const failure: Failure = { type: textOf(error, 'name') ?? 'Error', message };
  const code = textOf(error, 'code');
  if (code !== undefined) failure.code = code;
  const address = textOf(error, 'address') ?? textOf(error, 'hostname');
  const port = textOf(error, 'port');
  if (address !== undefined) failure.host = port === undefined ? address : `${address}:${port}`;
  for (const member of ['constraint', 'table', 'stack'] as const) {
    const text = textOf(error, member);
    if (text !== undefined) failure[member] = text;
  }
  const { cause }: { cause?: unknown } = error;
  if (cause !== undefined && depth < MAX_DEPTH) failure.cause = failureOf(cause, depth + 1);
  return failure;
}

function textOf(error: object, member: string): string | undefined {
  const value: unknown = Reflect.get(error, member);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
