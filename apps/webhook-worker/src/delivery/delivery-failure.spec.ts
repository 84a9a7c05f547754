import { DeliveryFailure, toDeliveryFailure } from './delivery-failure';

const withCode = (code: string): Error => Object.assign(new Error('10.0.0.1'), { code });

it.each([
  ['ECONNREFUSED', 'connect', 'The connection was refused.'],
  ['EHOSTUNREACH', 'connect', 'The host cannot be reached.'],
  ['ENETUNREACH', 'connect', 'The network cannot be reached.'],
  ['EADDRNOTAVAIL', 'connect', 'The host cannot be reached.'],
  ['ETIMEDOUT', 'connect', 'The connection timed out.'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect', 'The connection timed out.'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout', 'No response arrived in time.'],
  ['UND_ERR_HEADERS_OVERFLOW', 'response', 'The response headers are too long.'],
  ['HPE_HEADER_OVERFLOW', 'response', 'The response headers are too long.'],
  ['HPE_INVALID_CONSTANT', 'response', 'The response is not valid HTTP.'],
  ['ECONNRESET', 'response', 'The connection was closed before a response arrived.'],
  ['EPIPE', 'response', 'The connection was closed before a response arrived.'],
  ['UND_ERR_SOCKET', 'response', 'The connection was closed before a response arrived.'],
  ['UND_ERR_DESTROYED', 'response', 'The attempt was aborted.'],
  ['CERT_HAS_EXPIRED', 'tls', 'TLS failed (CERT_HAS_EXPIRED).'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', 'TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT).'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', 'TLS failed (ERR_TLS_CERT_ALTNAME_INVALID).'],
  ['UND_ERR_OTHER', 'response', 'The request failed (UND_ERR_OTHER).'],
])('tells %s as a failure to %s, without an address', (code, phase, message) => {
  expect(toDeliveryFailure(withCode(code))).toMatchObject({ phase, message });
});

it('reports the end of the total time as a timeout, and keeps a known failure', () => {
  const known = new DeliveryFailure('blocked', 'The address is not public.');
  expect(toDeliveryFailure(known)).toBe(known);
  expect(toDeliveryFailure(new DOMException('', 'TimeoutError'))).toMatchObject({ phase: 'timeout' });
  for (const thrown of [new Error('10.0.0.1'), 'text', null])
    expect(toDeliveryFailure(thrown)).toMatchObject({ phase: 'response', message: 'The request failed.' });
});
