import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { imageSource } from '../image/source.ts';
import { reportError, UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** A file, or an image in a registry, with the hash of its bytes. */
interface Subject {
  name: string;
  digest: { sha256: string };
}

/** A DSSE envelope: a payload and its signatures. */
interface Envelope {
  payloadType: string;
  payload: string;
  signatures: { keyid: string; sig: string }[];
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const keyIdOf = (key: KeyObject): string => sha256(createPublicKey(key).export({ type: 'spki', format: 'der' }));

/** Returns the bytes that DSSE signs. They include the type, so that a payload cannot be used as another type. */
function signedBytes(payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload]);
}

function subjectOf(given: string): Subject {
  const [, name, digest] = /^(\S+)@sha256:([0-9a-f]{64})$/.exec(given) ?? [];
  if (name !== undefined && digest !== undefined) return { name, digest: { sha256: digest } };
  return { name: basename(given), digest: { sha256: sha256(readFileSync(given)) } };
}

/** Returns SLSA provenance (https://slsa.dev/spec/v1.0/provenance) with the commit, lock file and base of the subjects. */
function statementOf(subject: readonly Subject[], base: string | undefined): object {
  const { version, revision, created } = imageSource(undefined);
  const lockFile = sha256(readFileSync(join(repositoryRoot, 'package-lock.json')));
  const [, baseName, baseDigest] = /^(.+)@sha256:([0-9a-f]{64})$/.exec(base ?? '') ?? [];
  if (base !== undefined && baseDigest === undefined) throw new UserError('--base is NAME@sha256:…');
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://in-toto.io/attestation/npm-and-image/v1',
        externalParameters: { version, revision },
        resolvedDependencies: [
          { uri: 'git+identity-state-service', digest: { gitCommit: revision } },
          { uri: 'package-lock.json', digest: { sha256: lockFile } },
          ...(baseDigest === undefined ? [] : [{ uri: baseName, digest: { sha256: baseDigest } }]),
        ],
      },
      runDetails: {
        builder: { id: `node ${process.version} ${process.platform}-${process.arch}` },
        metadata: { startedOn: created.toISOString() },
      },
    },
  };
}

/** @throws UserError unless the key signed the envelope and the envelope names every subject */
function check(envelope: Envelope, key: KeyObject, subjects: readonly Subject[]): void {
  const payload = Buffer.from(envelope.payload, 'base64');
  const isSigned = envelope.signatures.some(({ sig }) =>
    verify(null, signedBytes(payload), key, Buffer.from(sig, 'base64')),
  );
  if (!isSigned || envelope.payloadType !== PAYLOAD_TYPE) throw new UserError('This key did not sign the attestation.');
  const { subject: signed }: { subject: Subject[] } = JSON.parse(payload.toString());
  for (const { name, digest } of subjects) {
    if (!signed.some((one) => one.name === name && one.digest.sha256 === digest.sha256))
      throw new UserError(`${name} differs from the signed one.`);
  }
}

/** `npm run tool -- release/attest`: signs a release with an Ed25519 key, or verifies it (docs/operations/images.md). */
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      key: { type: 'string' },
      out: { type: 'string', default: 'dist/provenance.intoto.json' },
      base: { type: 'string' },
      verify: { type: 'boolean', default: false },
    },
  });
  if (values.key === undefined || positionals.length === 0)
    throw new UserError(
      'npm run tool -- release/attest --key KEY.pem [--out FILE] [--base NAME@sha256:…] [--verify] FILE|IMAGE@sha256:… …',
    );
  const subjects = positionals.map(subjectOf);
  const pem = readFileSync(values.key);
  if (values.verify) {
    check(JSON.parse(readFileSync(values.out, 'utf8')), createPublicKey(pem), subjects);
    console.log(`${subjects.map(({ name }) => name).join(', ')}: signed by this key`);
  } else {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== 'ed25519')
      throw new UserError('--key is an Ed25519 key: openssl genpkey -algorithm ed25519');
    const payload = Buffer.from(JSON.stringify(statementOf(subjects, values.base)));
    const signature = { keyid: keyIdOf(key), sig: sign(null, signedBytes(payload), key).toString('base64') };
    const envelope: Envelope = {
      payloadType: PAYLOAD_TYPE,
      payload: payload.toString('base64'),
      signatures: [signature],
    };
    writeFileSync(values.out, `${JSON.stringify(envelope, null, 2)}\n`);
    console.log(`${values.out}: ${subjects.map(({ name }) => name).join(', ')}`);
  }
} catch (error) {
  process.exitCode = reportError(error);
}
