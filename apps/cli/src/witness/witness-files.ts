import { readFile } from 'node:fs/promises';
import {
  createSigner,
  encodeBase64,
  keyIdOf,
  keyLabel,
  parseSigningKey,
  parseVerifierKey,
  type Signer,
  TlogError,
  type VerifierKey,
} from '@iss/tlog';
import { Failure } from '../command';

/** First words of policy lines (C2SP tlog-policy) that name no log. */
const OTHER_LINES = ['witness', 'group', 'quorum', 'vrf'];

/**
 * Reads the keys of the witness: C2SP signing keys for Ed25519 cosignatures (0x04) or ML-DSA-44 (0x06), one per line. A plain
 * Ed25519 key (0x01), as Go's `note.GenerateKey` makes it, is used as 0x04.
 *
 * @throws Failure
 */
export async function readWitnessKeys(path: string): Promise<Signer[]> {
  const lines = await linesOf('--key', path);
  if (lines.length === 0)
    throw new Failure(`${path} (--key) has no key. Each line must be a signing key, PRIVATE+KEY+<name>+….`);
  return Promise.all(lines.map(({ line, at }) => explained(path, at, () => createCosigner(line))));
}

/** A log to witness. */
export interface WitnessedLog {
  readonly key: VerifierKey;
  /** The URL prefix of the log, if the line has one. */
  readonly url: string | null;
}

/**
 * Reads the logs to witness: one verifier key per line, and the URL prefix of its log. The word `log` may come first, so that a policy file
 * works too.
 *
 * @throws Failure
 */
export async function readLogs(path: string): Promise<WitnessedLog[]> {
  const logs: WitnessedLog[] = [];
  for (const { line, at } of await linesOf('--logs', path)) {
    const words = line.split(/[ \t]+/);
    if (OTHER_LINES.includes(words[0] ?? '')) continue;
    const [vkey = '', url = null] = words[0] === 'log' ? words.slice(1) : words;
    const key = await explained(path, at, async () => parseVerifierKey(vkey));
    if (key.type === 'ed25519-cosignature')
      throw new Failure(`Line ${at} of ${path} is the key of a witness (type 0x04). Name the key of a log.`);
    logs.push({ key, url });
  }
  if (logs.length === 0)
    throw new Failure(`${path} (--logs) names no log. Each line must be the verifier key of a log.`);
  return logs;
}

async function createCosigner(skey: string): Promise<Signer> {
  const signer = await createSigner(skey);
  if (signer.key.type !== 'ed25519') return signer;
  const { name, publicKey } = signer.key;
  const label = keyLabel({ name, keyId: keyIdOf(name, 'ed25519-cosignature', publicKey) });
  return createSigner(`PRIVATE+KEY+${label}+${encodeBase64(Uint8Array.of(0x04, ...parseSigningKey(skey).seed))}`);
}

/** Returns the lines with their numbers, without empty lines and comments. @throws Failure */
async function linesOf(option: string, path: string): Promise<{ line: string; at: number }[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Failure(`${path} (${option}) cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  });
  return text
    .split('\n')
    .map((line, index) => ({ line: line.trim(), at: index + 1 }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'));
}

async function explained<T>(path: string, at: number, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TlogError) throw new Failure(`Line ${at} of ${path}: ${error.message}`);
    throw error;
  }
}
