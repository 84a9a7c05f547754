import { Failure } from '../errors';
import { visible } from '../visible';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Requires an address that is safe to open, fetch or send a token to: https, or http on loopback, without credentials.
 *
 * @param name the role of the address, for the error message
 * @throws Failure
 */
export function requireWebAddress(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (url === null || !isSafe || url.username !== '' || url.password !== '') {
    throw new Failure(
      `${name} is ${visible(withoutCredentials(text))}. It must be an https address (or http on loopback) without credentials.`,
    );
  }
  return url;
}

function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/?#]*@/, '//…@');
}
