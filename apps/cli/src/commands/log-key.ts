import { createSigner, generateKeys } from '@iss/tlog';
import { defineCommand } from '../define';
import { readWhole, writeSynced } from '../files';

const MAX_KEY_FILE = 10_000;
const OUT_OR_PRINT = {
  required: 'Name either --out FILE, which only its owner can read, or --print, which shows the secret.',
} as const;

export const logKey = defineCommand({
  about:
    'It prints the verifier key. Workers read the signing key from LOG_SIGNING_KEY, or with --pq from LOG_PQ_SIGNING_KEY. An existing file is never overwritten.',
  options: {
    origin: {
      value: 'NAME',
      about: 'Name of the log (LOG_ORIGIN), which never changes.',
      required: '--origin is missing. Name the LOG_ORIGIN of the log. It never changes.',
    },
    pq: { about: 'Create an ML-DSA-44 key.' },
    out: { value: 'FILE', about: 'New file that only its owner can read.', group: OUT_OR_PRINT },
    print: { about: 'Print the secret instead.', group: OUT_OR_PRINT },
  },
  async run({ origin, pq, out: file }, { print, complain }) {
    const { signingKey, verifierKey } = await generateKeys(origin, pq ? 'ml-dsa-44-cosignature' : 'ed25519');
    if (file === undefined) {
      print(signingKey);
    } else {
      // Refuses to overwrite a file, which may hold another key.
      await writeSynced(file, `${signingKey}\n`, 'wx');
      complain(`The signing key is in ${file}. Keep it secret, and give it only to the workers.`);
    }
    print(verifierKey);
  },
});

export const logKeyShow = defineCommand({
  arguments: { file: { about: 'File of the signing key.' } },
  async run({ file }, { print }) {
    const signingKey = readWhole(file, 'signing key', MAX_KEY_FILE).toString('utf8').trim();
    print((await createSigner(signingKey)).verifierKey);
  },
});
