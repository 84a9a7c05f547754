import { generateKeys } from '@iss/tlog';
import { type Command, textOf, UsageError } from '../command';
import { writeSynced } from '../files';

/** Makes a pair of keys for a log. */
export const logKey: Command = {
  summary:
    'Makes a signing key for a log (LOG_SIGNING_KEY; with --pq LOG_PQ_SIGNING_KEY), and prints its verifier key.',
  usage: '--origin NAME [--pq] (--out FILE | --print)',
  options: {
    origin: { type: 'string' },
    pq: { type: 'boolean' },
    out: { type: 'string' },
    print: { type: 'boolean' },
  },
  async run(options, { print, complain }) {
    const origin = textOf(options, 'origin');
    const file = textOf(options, 'out');
    if (origin === undefined) throw new UsageError('Name --origin NAME, the LOG_ORIGIN of the log: it never changes.');
    if ((file === undefined) === (options['print'] !== true)) {
      throw new UsageError('Where to? --out FILE, which only its owner may read, or --print, into the open.');
    }
    const { signingKey, verifierKey } = await generateKeys(
      origin,
      options['pq'] === true ? 'ml-dsa-44-cosignature' : 'ed25519',
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
