import { generateKeys } from '@iss/tlog';
import { type Command, hasFlag, textOf, UsageError } from '../command';
import { writeSynced } from '../files';

/** Makes a pair of keys for a log. */
export const logKey: Command = {
  usage: '--origin NAME [--pq] (--out FILE | --print)',
  options: {
    origin: { value: 'NAME', about: 'The name of the log, LOG_ORIGIN, which never changes.' },
    pq: { about: 'A key of ML-DSA-44.' },
    out: { value: 'FILE', about: 'A new file, which only its owner may read.' },
    print: { about: 'Prints the secret instead.' },
  },
  async run(options, { print, complain }) {
    const origin = textOf(options, 'origin');
    const file = textOf(options, 'out');
    if (origin === undefined) throw new UsageError('Name --origin NAME, the LOG_ORIGIN of the log: it never changes.');
    if ((file === undefined) === !hasFlag(options, 'print')) {
      throw new UsageError('Where to? --out FILE, which only its owner may read, or --print, into the open.');
    }
    const { signingKey, verifierKey } = await generateKeys(
      origin,
      hasFlag(options, 'pq') ? 'ml-dsa-44-cosignature' : 'ed25519',
    );
    if (file === undefined) {
      print(signingKey);
    } else {
      // Never in place of another key.
      await writeSynced(file, `${signingKey}\n`, 'wx');
      complain(`The signing key is in ${file}: it is secret, and belongs to the worker alone.`);
    }
    print(verifierKey);
  },
};
