import { generateKeys } from '@iss/tlog';
import { type Command, hasFlag, textOf, UsageError } from '../command';
import { writeSynced } from '../files';

export const logKey: Command = {
  about:
    'It prints the verifier key. Workers read the signing key from LOG_SIGNING_KEY, or with --pq from LOG_PQ_SIGNING_KEY. An existing file is never overwritten.',
  usage: '--origin NAME [--pq] (--out FILE | --print)',
  options: {
    origin: { value: 'NAME', about: 'Name of the log (LOG_ORIGIN), which never changes.' },
    pq: { about: 'Create an ML-DSA-44 key.' },
    out: { value: 'FILE', about: 'New file that only its owner can read.' },
    print: { about: 'Print the secret instead.' },
  },
  async run(options, { print, complain }) {
    const origin = textOf(options, 'origin');
    const file = textOf(options, 'out');
    if (origin === undefined)
      throw new UsageError('--origin is missing. Name the LOG_ORIGIN of the log. It never changes.');
    if ((file === undefined) === !hasFlag(options, 'print')) {
      throw new UsageError(
        'Name either --out FILE, which only its owner can read, or --print, which shows the secret.',
      );
    }
    const { signingKey, verifierKey } = await generateKeys(
      origin,
      hasFlag(options, 'pq') ? 'ml-dsa-44-cosignature' : 'ed25519',
    );
    if (file === undefined) {
      print(signingKey);
    } else {
      // Refuses to overwrite a file, which may hold another key.
      await writeSynced(file, `${signingKey}\n`, 'wx');
      complain(`The signing key is in ${file}. Keep it secret, and give it only to the workers.`);
    }
    print(verifierKey);
  },
};
