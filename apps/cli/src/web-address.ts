import { Failure } from './errors';
import { visible } from './visible';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns an address that may be opened, fetched or sent a token: https, or http on loopback, without credentials.
 *
 * @param name what the address is, for the error
 * @throws Failure
 */
export function requireWebAddress(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (url === null || !isSafe || url.username !== '' || url.password !== '') {
    throw new Failure(
      `${name} is ${visible(withoutCredentials(text))}. Only https addresses without credentials are used, and http on loopback.`,
    );
  }
  return url;
}

function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/?#]*@/, '//…@');
}
