import { UsageError } from '../command';

/** Returns the address of a service without a trailing slash. @throws UsageError that names its source, `name` */
export function baseUrlOf(name: string, text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new UsageError(`${name} takes an http(s) URL.`);
  const { username, password } = new URL(text);
  if (username !== '' || password !== '') throw new UsageError(`${name} takes a URL without a user name and password.`);
  return text.replace(/\/+$/, '');
}
