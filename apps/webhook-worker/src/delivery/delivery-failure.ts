import type { FailurePhase } from '@iss/domain';
import { EgressProxyError } from '@iss/platform';

/**
 * Why an attempt failed, in words for the subscription's owner. They contain no addresses, because the service's view
 * of DNS must not leak.
 */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';

  constructor(
    readonly phase: FailurePhase,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const BY_CODE: Record<string, DeliveryFailure> = {
  ECONNREFUSED: new DeliveryFailure('connect', 'The connection was refused.'),
  EHOSTUNREACH: new DeliveryFailure('connect', 'The host cannot be reached.'),
  ENETUNREACH: new DeliveryFailure('connect', 'The network cannot be reached.'),
  EADDRNOTAVAIL: new DeliveryFailure('connect', 'The host cannot be reached.'),
  ETIMEDOUT: new DeliveryFailure('connect', 'The connection timed out.'),
  UND_ERR_CONNECT_TIMEOUT: new DeliveryFailure('connect', 'The connection timed out.'),
  UND_ERR_HEADERS_TIMEOUT: new DeliveryFailure('timeout', 'No response arrived in time.'),
  UND_ERR_HEADERS_OVERFLOW: new DeliveryFailure('response', 'The response headers are too long.'),
  HPE_HEADER_OVERFLOW: new DeliveryFailure('response', 'The response headers are too long.'),
  ECONNRESET: new DeliveryFailure('response', 'The connection was closed before a response arrived.'),
  EPIPE: new DeliveryFailure('response', 'The connection was closed before a response arrived.'),
  UND_ERR_DESTROYED: new DeliveryFailure('response', 'The attempt was aborted.'),
  UND_ERR_SOCKET: new DeliveryFailure('response', 'The connection was closed before a response arrived.'),
};

const TLS_CODE =
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

/** Converts an error of the HTTP client to a failure. */
export function toDeliveryFailure(error: unknown): DeliveryFailure {
  if (error instanceof DeliveryFailure) return error;
  if (error instanceof EgressProxyError) return new DeliveryFailure('proxy', error.message, { cause: error });
  const code = textOf(error, 'code');
  if (textOf(error, 'name') === 'TimeoutError') return new DeliveryFailure('timeout', 'No response arrived in time.');
  const known = BY_CODE[code];
  if (known !== undefined) return new DeliveryFailure(known.phase, known.message);
  if (TLS_CODE.test(code)) return new DeliveryFailure('tls', `TLS failed (${code}).`);
  if (code.startsWith('HPE_')) return new DeliveryFailure('response', 'The response is not valid HTTP.');
  return new DeliveryFailure('response', code === '' ? 'The request failed.' : `The request failed (${code}).`);
}

/** Returns a member of a thrown value. */
function textOf(error: unknown, name: 'code' | 'name'): string {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  return typeof value === 'string' ? value : '';
}
