import { isIP } from 'node:net';
import { DomainError } from '@iss/domain';
import { decideAddress } from '@iss/platform';

/** Names that no public host has: RFC 6761, RFC 6762, the reserved `internal`, and names without a dot. */
const LOCAL_NAME = /^(?:[^.]+|.+\.(?:localhost|local|internal))$/;

/**
 * Returns the URL of a target without surrounding white space: an absolute https: URL of a public host, without
 * credentials. If private targets are allowed (development), private hosts are accepted too, also with http:. Throws
 * `validation_error`. The addresses of a name are checked when a delivery connects to them.
 */
export function requireTargetUrl(text: string, allowPrivateTargets: boolean): string {
  const target = text.trim();
  // A URL parser drops line breaks, so the stored URL could differ from the sent one.
  const url = /[\p{Cc}\s]/u.test(target) ? null : URL.parse(target);
  if (url === null || !['https:', 'http:'].includes(url.protocol)) throw refused('must be an absolute https: URL');
  if (url.username !== '' || url.password !== '') throw refused('must not contain credentials');
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
  const isPublic = isIP(host) === 0 ? !LOCAL_NAME.test(host) : decideAddress(host) === 'public';
  if (!isPublic && !allowPrivateTargets) throw refused('must name a public host');
  if (url.protocol === 'http:' && isPublic) throw refused('must be an absolute https: URL');
  return target;
}

function refused(message: string): DomainError {
  return new DomainError('validation_error', `target_url ${message}.`, [
    { path: '/target_url', message, code: 'invalid_format' },
  ]);
}
