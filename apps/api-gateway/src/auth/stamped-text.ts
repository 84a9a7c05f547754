import type { SecretBox } from '@iss/platform';

/** Appends a MAC to a text, for a purpose and an owner. Invented texts are then refused without a statement. */
export function stamp(secrets: SecretBox, purpose: string, owner: string, text: string): string {
  return `${text}.${secrets.mac(purpose, `${owner}\n${text}`)}`;
}

/** Returns the text to which {@link stamp} appended a MAC; null if it did not. */
export function unstamp(secrets: SecretBox, purpose: string, owner: string, stamped: string): string | null {
  const [text = '', tag = '', ...rest] = stamped.split('.');
  return rest.length === 0 && secrets.verifyMac(purpose, `${owner}\n${text}`, tag) ? text : null;
}
