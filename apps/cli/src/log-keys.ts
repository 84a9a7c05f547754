import { createVerifier, TlogError } from '@iss/tlog';
import { type ArgumentSpec, type Options, textOf, UsageError } from './command';

export const VKEY_ARGUMENT: ArgumentSpec = {
  name: 'vkey',
  about: 'The verifier key, which iss log-key prints: name, hash and key.',
};

export const DATABASE_OPTION = {
  'database-url': {
    value: 'URL',
    about: 'The database, as the login that owns the tables: DATABASE_URL where it is left out.',
  },
} as const;

/** Returns the verifier key that is named. @throws UsageError where it is none that signs a log */
export function logKeyOf(options: Options): string {
  const vkey = textOf(options, 'vkey') ?? '';
  try {
    const { key } = createVerifier(vkey);
    if (key.type !== 'ed25519-cosignature') return vkey;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new UsageError(error.message);
  }
  throw new UsageError('That is the key of a witness (type 0x04). A log is signed with keys of type 0x01 or 0x06.');
}

/** Returns the name of a verifier key; null where there is no key. */
export function nameOf(vkey: string | undefined): string | null {
  return vkey === undefined ? null : vkey.slice(0, vkey.indexOf('+'));
}
