import { canonicalize } from '@iss/domain';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { controlledIdentifierOf, createIssuingKey, proofOf } from '.';

const CONTEXT = ['https://www.w3.org/ns/credentials/v2', 'https://www.w3.org/ns/credentials/examples/v2'];
const MULTIKEY = 'z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2';

/** The key pair of the vectors, whose secret part is `z3u2en7t5LR2WtQH5PfFqMqwVHBeXouLzo6haApm8XHqvjxq`. */
const SEED = 'c96ef9ea10c5e414c471723aff9de72c35fa5b70fae97e8832ecac7d2e2b8ed6';
const pkcs8 = Buffer.from(`302e020100300506032b657004220420${SEED}`, 'hex');
const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
const KEY = { kid: 'vector', publicKey: x, privateKey: Buffer.from(SEED, 'hex').toString('base64url') };

/** w3c/vc-di-eddsa, TestVectors/eddsa-jcs-2022/signedJCS.json: appendix B.2 of Data Integrity EdDSA Cryptosuites 1.0. */
const DOCUMENT = {
  '@context': CONTEXT,
  id: 'urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33',
  type: ['VerifiableCredential', 'AlumniCredential'],
  name: 'Alumni Credential',
  description: 'A minimum viable example of an Alumni Credential.',
  issuer: 'https://vc.example/issuers/5678',
  validFrom: '2023-01-01T00:00:00Z',
  credentialSubject: { id: 'did:example:abcdefgh', alumniOf: 'The School of Examples' },
};
const PROOF = {
  type: 'DataIntegrityProof',
  cryptosuite: 'eddsa-jcs-2022',
  created: '2023-02-24T23:36:38Z',
  verificationMethod: `did:key:${MULTIKEY}#${MULTIKEY}`,
  proofPurpose: 'assertionMethod',
  '@context': CONTEXT,
  proofValue: 'z2HnFSSPPBzR36zdDgK8PbEHeXbR56YF24jwMpt3R1eHXQzJDMWS93FCzpvJpwTWd3GAVFuUfjoJdcnTMuVor51aX',
};

it('proofOf creates the proof of the W3C vector', () => {
  const options = {
    context: CONTEXT,
    created: new Date(PROOF.created),
    verificationMethod: PROOF.verificationMethod,
  };
  expect(proofOf(canonicalize(DOCUMENT), options, KEY)).toEqual(PROOF);
});

it('controlledIdentifierOf publishes the public key of the vector as a multikey', () => {
  const id = 'https://vc.example/issuers/5678';
  expect(controlledIdentifierOf(id, [KEY])).toEqual({
    id,
    verificationMethod: [{ id: `${id}#${MULTIKEY}`, controller: id, publicKeyMultibase: MULTIKEY }],
    assertionMethod: [`${id}#${MULTIKEY}`],
  });
});

it('createIssuingKey creates no kid that starts with a hyphen', async () => {
  const keys = await Promise.all(Array.from({ length: 200 }, createIssuingKey));
  expect(keys.filter(({ kid }) => kid.startsWith('-'))).toEqual([]);
});
