import { hash, sign } from 'node:crypto';
import { canonicalize, type JsonValue } from '@iss/domain';
import { type CredentialClaims, secondsOf } from './issue';
import { type IssuingKey, privateKeyOf } from './issuing-key';

/**
 * The members of an envelope are terms that W3C does not define. Both are URLs, because `@digitalbazaar/vc` refuses a context
 * that is an object.
 */
const CONTEXT = ['https://www.w3.org/ns/credentials/v2', 'https://www.w3.org/ns/credentials/undefined-terms/v2'];

/** A whole version, as it is stored. */
export interface SealedVersion {
  /** The RFC 8785 text of the envelope. */
  envelope: string;
  /** The SHA-256 of the text. */
  envelopeHash: string;
}

/** The claims of a credential that nobody holds, and its UUID. */
export type EnvelopeClaims = Omit<CredentialClaims, 'holderKey'> & { credentialId: string };

/** Signs a whole version as a W3C credential (VC 2.0), which it returns as JSON text. */
export function signEnvelope(
  { envelope, envelopeHash }: SealedVersion,
  { credentialId, issuer, issuedAt, expiresAt, status, log }: EnvelopeClaims,
  key: IssuingKey,
): string {
  const { uri, idx } = status;
  const document = textOf({
    '@context': canonicalize(CONTEXT),
    id: canonicalize(`urn:uuid:${credentialId}`),
    type: canonicalize(['VerifiableCredential', 'EntityStateCredential']),
    issuer: canonicalize(issuer),
    validFrom: canonicalize(timeOf(issuedAt)),
    validUntil: canonicalize(timeOf(expiresAt)),
    credentialStatus: canonicalize({
      ...{ id: `${uri}#${idx}`, type: 'TokenStatusListEntry' },
      status_list: { uri, idx },
    }),
    credentialSubject: textOf({
      envelope,
      envelope_hash: canonicalize(envelopeHash),
      ...(log === null ? {} : { log: canonicalize(log) }),
    }),
  });
  const made = { context: CONTEXT, created: issuedAt, verificationMethod: `${issuer}#${multikeyOf(key)}` };
  return `${document.slice(0, -1)},"proof":${canonicalize(proofOf(document, made, key))}}`;
}

export interface ProofOptions {
  /** The `@context` of the document. */
  context: JsonValue;
  created: Date;
  /** The URL of the public key. */
  verificationMethod: string;
}

/** Returns the proof `eddsa-jcs-2022` of a document (W3C Data Integrity EdDSA, section 3.3), given as RFC 8785 text. */
export function proofOf(document: string, { context, created, verificationMethod }: ProofOptions, key: IssuingKey) {
  const options = {
    ...{ type: 'DataIntegrityProof', cryptosuite: 'eddsa-jcs-2022', created: timeOf(created) },
    ...{ verificationMethod, proofPurpose: 'assertionMethod', '@context': context },
  };
  const hashes = [canonicalize(options), document].map((text) => hash('sha256', text, 'buffer'));
  return { ...options, proofValue: multibaseOf(sign(null, Buffer.concat(hashes), privateKeyOf(key))) };
}

/** Returns the public keys of an issuer as W3C verifiers read them (Controlled Identifiers 1.0). */
export function controlledIdentifierOf(id: string, keys: readonly Pick<IssuingKey, 'publicKey'>[]) {
  const methods = keys.map((key) => {
    const publicKeyMultibase = multikeyOf(key);
    return { id: `${id}#${publicKeyMultibase}`, controller: id, publicKeyMultibase };
  });
  return { id, verificationMethod: methods, assertionMethod: methods.map((method) => method.id) };
}

/** The code of Ed25519 public keys in multicodec. */
const ED25519 = [0xed, 0x01];

function multikeyOf({ publicKey }: Pick<IssuingKey, 'publicKey'>): string {
  return multibaseOf(Buffer.concat([Buffer.from(ED25519), Buffer.from(publicKey, 'base64url')]));
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Returns bytes in multibase with the alphabet base58-btc. */
function multibaseOf(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  let digits = '';
  for (let rest = BigInt(`0x${hex}`); rest > 0n; rest /= 58n) digits = BASE58.charAt(Number(rest % 58n)) + digits;
  const [zeros = ''] = /^(?:00)*/.exec(hex) ?? [];
  return `z${BASE58.charAt(0).repeat(zeros.length / 2)}${digits}`;
}

/** Returns the RFC 8785 text of an object, from those of its members, whose names are ASCII. */
function textOf(members: Readonly<Record<string, string>>): string {
  const sorted = Object.keys(members).sort();
  return `{${sorted.map((name) => `${JSON.stringify(name)}:${members[name] ?? 'null'}`).join(',')}}`;
}

function timeOf(time: Date): string {
  return new Date(secondsOf(time) * 1000).toISOString().replace('.000', '');
}
