/** A failure and its causes, as they are logged. */
export interface Failure {
  type: string;
  message: string;
  /** SQLSTATE of the database, `errno` of the operating system, or the code of an API error. */
  code?: string;
  /** The `host:port` that was called. */
  host?: string;
  constraint?: string;
  table?: string;
  stack?: string;
  cause?: Failure;
}

/** The maximum depth of causes: enough to get from a response to the socket. */
const MAX_DEPTH = 4;

/**
 * Returns the loggable members of a failure. Other members of errors may contain stored or sent data: the database's
 * details quote rows.
 */
export function failureOf(error: unknown, depth = 0): Failure {
  // Not by `instanceof`: in some hosts Node's own errors come from another realm.
  if (typeof error !== 'object' || error === null) return { type: typeof error, message: String(error) };
  const message = textOf(error, 'message') ?? '';
  const { errors }: { errors?: unknown } = error;
  // Node tries each address of a name, and all of them fail for the same reason.
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
