import { DomainError } from '@iss/domain';
import type { IncomingMessage } from 'node:http';
import type { ProtectedResource } from '@iss/contract';
import { ownOrigin } from '../../auth/protected-resource';
import type { GatewaySettings } from '../../settings';

/**
 * Returns the metadata of the service for the origin that the request names. Throws `validation_error` without a valid
 * host.
 */
export function readProtectedResource(
  request: Pick<IncomingMessage, 'headers'>,
  settings: GatewaySettings,
): ProtectedResource {
  const resource = ownOrigin(request, settings.auth);
  if (resource === null) {
    throw new DomainError('validation_error', 'The Host header names no host. Send the host of the service.', [
      { path: '/headers/host', message: 'must be a host, with or without a port', code: 'invalid_format' },
    ]);
  }
  const isOpen = settings.auth.mode === 'disabled';
  return {
    resource,
    ...(isOpen
      ? {}
      : { authorization_servers: [settings.auth.issuer], scopes_supported: settings.console.scope.split(' ') }),
    bearer_methods_supported: ['header'],
    resource_name: 'Identity State Service',
    resource_documentation: `${resource}/docs`,
  };
}
