import { randomBytes } from 'node:crypto';
import { formatVrfPublicKey, formatVrfSecretKey, parseVrfSecretKey, vrfKeysFromRandom } from '@iss/map';
import { nobleGroup } from '@iss/map/noble';
import { createSigner, generateKeys } from '@iss/tlog';
import { UsageError } from '../command';
import { defineCommand } from '../define';
import { readWhole, writeSynced } from '../files';

const MAX_KEY_FILE = 10_000;
const NAMED = {
  required: '--origin is missing. Name the LOG_ORIGIN of the log. It never changes.',
} as const;
const OUT_OR_PRINT = {
  required: 'Name either --out FILE, which only its owner can read, or --print, which shows the secret.',
} as const;

/** A new key as text, with the line to publish. */
interface NewKey {
  readonly secret: string;
  readonly shown: string;
  readonly what: string;
}

export const logKey = defineCommand({
  about:
    'It prints the verifier key. Workers read the signing key from LOG_SIGNING_KEY, or with --pq from LOG_PQ_SIGNING_KEY. With --vrf it prints the line for policy files, and workers and gateways read the key from LOG_VRF_KEY. An existing file is never overwritten.',
  options: {
    origin: { value: 'NAME', about: 'Name of the log (LOG_ORIGIN), which never changes.', group: NAMED },
    vrf: { about: 'Create a VRF key for the map of the log. It has no name.', group: NAMED },
    pq: { about: 'Create an ML-DSA-44 key.' },
    out: { value: 'FILE', about: 'New file that only its owner can read.', group: OUT_OR_PRINT },
    print: { about: 'Print the secret instead.', group: OUT_OR_PRINT },
  },
  async run({ origin = '', vrf, pq, out: file }, { print, complain }) {
    if (vrf && pq) throw new UsageError('--vrf and --pq exclude each other. Remove one of them.');
    const { secret, shown, what } = vrf ? newVrfKey() : await newSigningKey(origin, pq);
    if (file === undefined) {
      print(secret);
    } else {
      // Refuses to overwrite a file, which may hold another key.
      await writeSynced(file, `${secret}\n`, 'wx');
      complain(
        `The ${what} key is in ${file}. Keep it secret, and give it only to the ${vrf ? 'workers and gateways' : 'workers'}.`,
      );
    }
    print(shown);
  },
});

export const logKeyShow = defineCommand({
  arguments: { file: { about: 'File of the signing key or VRF key.' } },
  async run({ file }, { print }) {
    const secret = readWhole(file, 'key', MAX_KEY_FILE).toString('utf8').trim();
    print(secret.startsWith('PRIVATE+VRF+') ? vrfLine(secret) : (await createSigner(secret)).verifierKey);
  },
});

async function newSigningKey(origin: string, isPq: boolean): Promise<NewKey> {
  const { signingKey, verifierKey } = await generateKeys(origin, isPq ? 'ml-dsa-44-cosignature' : 'ed25519');
  return { secret: signingKey, shown: verifierKey, what: 'signing' };
}

function newVrfKey(): NewKey {
  const secret = formatVrfSecretKey(vrfKeysFromRandom(nobleGroup, randomBytes(64)).secretKey);
  return { secret, shown: vrfLine(secret), what: 'VRF' };
}

/** Returns the line of a policy file. */
function vrfLine(secret: string): string {
  return `vrf ${formatVrfPublicKey(parseVrfSecretKey(nobleGroup, secret).publicKey)}`;
}
