import { createVerifier, TlogError } from '@iss/tlog';
import { UsageError } from '../command';

export const DATABASE_OPTION = {
  'database-url': {
    value: 'URL',
    about: 'Database, as the owner of the tables (default: DATABASE_URL).',
    isShared: true,
  },
} as const;

/** Returns a verifier key. @throws UsageError if it cannot be the key of a log */
export function logKeyOf(vkey: string): string {
  try {
    const { key } = createVerifier(vkey);
    if (key.type !== 'ed25519-cosignature') return vkey;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new UsageError(error.message);
  }
  throw new UsageError('This is the key of a witness (type 0x04). The key of a log has type 0x01 or 0x06.');
}

/** Returns the name of a verifier key; null if there is no key. */
export function nameOfKey(vkey: string | undefined): string | null {
  return vkey === undefined ? null : vkey.slice(0, vkey.indexOf('+'));
}
