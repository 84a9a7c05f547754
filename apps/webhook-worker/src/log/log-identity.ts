import { readFile } from 'node:fs/promises';
import { EnvError, type LogSettings } from '@iss/platform';
import {
  createSigner,
  createVerifier,
  isQuorum,
  parsePolicy,
  type Policy,
  type Signer,
  type SignatureType,
  TlogError,
  type Verifier,
} from '@iss/tlog';

/** Injection token of the log's origin, keys and policy; null if nothing is signed. */
export const LOG_IDENTITY = Symbol('LOG_IDENTITY');

/** The origin and keys that sign checkpoints, and the policy for cosignatures. */
export interface LogIdentity {
  readonly origin: string;
  readonly signers: readonly Signer[];
  /** The verifiers of the signers' keys. */
  readonly verifiers: readonly Verifier[];
  /** Null: checkpoints need no cosignatures. */
  readonly policy: Policy | null;
}

/**
 * Returns null if nothing is signed. Throws EnvError for keys that cannot sign, and for a policy that can never be
 * satisfied.
 */
export async function openLogIdentity(settings: LogSettings): Promise<LogIdentity | null> {
  const { origin, signingKeys, pqSigningKey, policyFile } = settings;
  if (signingKeys.length === 0) return null;
  const signers = [
    ...(await Promise.all(signingKeys.map((key) => signerOf('LOG_SIGNING_KEY', key, 'ed25519', origin)))),
    ...(pqSigningKey === undefined
      ? []
      : [await signerOf('LOG_PQ_SIGNING_KEY', pqSigningKey, 'ml-dsa-44-cosignature', origin)]),
  ];
  const policy = policyFile === undefined ? null : await readPolicy(policyFile, signers);
  return { origin, signers, verifiers: signers.map(({ key }) => createVerifier(key)), policy };
}

const BYTES: Readonly<Record<SignatureType, string>> = {
  ed25519: '0x01 (Ed25519)',
  'ed25519-cosignature': '0x04 (Ed25519 cosignature)',
  'ml-dsa-44-cosignature': '0x06 (ML-DSA-44)',
};

async function signerOf(variable: string, key: string, type: SignatureType, origin: string): Promise<Signer> {
  try {
    const signer = await createSigner(key);
    if (signer.key.type !== type)
      throw new EnvError([
        `${variable} holds a key of type ${BYTES[signer.key.type]}: it must be of type ${BYTES[type]}`,
      ]);
    if (signer.key.name !== origin)
      throw new EnvError([`LOG_ORIGIN must be the name in ${variable}, ${signer.key.name}`]);
    return signer;
  } catch (error) {
    if (error instanceof TlogError) throw new EnvError([`${variable} cannot be used: ${error.message}`]);
    throw error;
  }
}

async function readPolicy(path: string, signers: readonly Signer[]): Promise<Policy> {
  const fault = (why: string): EnvError => new EnvError([`LOG_POLICY_FILE, ${path}, ${why}`]);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw fault(`cannot be read: ${String(error)}`);
  });
  let policy: Policy;
  try {
    policy = parsePolicy(new Uint8Array(bytes));
  } catch (error) {
    if (error instanceof TlogError) throw fault(`is not usable. ${error.message}`);
    throw error;
  }
  const own = signers.map(({ verifierKey }) => verifierKey);
  if (
    !policy.logs.some(({ key }) =>
      signers.some((signer) => signer.key.keyId === key.keyId && signer.key.name === key.name),
    )
  )
    throw fault(`names no signing key of this worker: add the line “log ${own[0] ?? ''}”`);
  for (const { name, url } of policy.witnesses) {
    if (url !== null && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      throw fault(`gives the witness ${name} a URL that is not http: or https:`);
  }
  const asked = policy.witnesses.filter(({ url }) => url !== null).map(({ name }) => name);
  if (!isQuorum(policy, new Set(asked)))
    throw fault('requires more witnesses than it has URLs for: add the URL of each witness to its line');
  return policy;
}
