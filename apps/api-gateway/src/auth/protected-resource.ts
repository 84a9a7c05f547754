import type { IncomingMessage } from 'node:http';
import { DomainError } from '@iss/domain';
import type { AuthSettings } from './auth-settings';

/** The path of the metadata of a protected resource at its origin (RFC 9728, section 3). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns the origin under which a caller reaches the service: `PUBLIC_ORIGIN`, or else https (http on loopback) with
 * the `Host` of the request. Forwarding headers are ignored. Returns null if `Host` is not a valid host.
 */
export function ownOrigin(
  { headers: { host } }: Pick<IncomingMessage, 'headers'>,
  settings: AuthSettings,
): string | null {
  if (settings.publicOrigin !== undefined) return settings.publicOrigin;
  if (host === undefined || !HOST.test(host) || !URL.canParse(`https://${host}`)) return null;
  const isLoopback = LOOPBACK.test(new URL(`https://${host}`).hostname);
  return new URL(`${isLoopback ? 'http' : 'https'}://${host}`).origin;
}

/** Returns {@link ownOrigin}. Throws `validation_error` if there is none. */
export function requireOwnOrigin(request: Pick<IncomingMessage, 'headers'>, settings: AuthSettings): string {
  const origin = ownOrigin(request, settings);
  if (origin !== null) return origin;
  throw new DomainError('validation_error', 'The Host header names no host. Send the host of the service.', [
    { path: '/headers/host', message: 'must be a host, with or without a port', code: 'invalid_format' },
  ]);
}
