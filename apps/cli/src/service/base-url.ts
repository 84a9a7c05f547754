import { UsageError } from '../command';

/** The address of a service, without a slash at its end. @throws UsageError for what is none, by the name of where it was given */
export function baseUrlOf(name: string, text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new UsageError(`${name} takes an http(s) URL.`);
  return text.replace(/\/+$/, '');
}
