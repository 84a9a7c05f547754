/** The parts of `@digitalbazaar` that are called here. The packages have no types. */
interface Suite {
  createVerifyCryptosuite(): object;
}
interface DataIntegrity {
  DataIntegrityProof: new (options: { cryptosuite: object }) => object;
}
interface Credentials {
  verifyCredential(options: {
    credential: unknown;
    suite: object;
    documentLoader(url: string): Promise<{ documentUrl: string; document: object }>;
    checkStatus(): { verified: boolean };
  }): Promise<{ verified: boolean }>;
}

// Node loads these ES modules itself, because Jest would transform each of their files.
const load = process.getBuiltinModule('node:module').createRequire(__filename);
const { createVerifyCryptosuite }: Suite = load('@digitalbazaar/eddsa-jcs-2022-cryptosuite');
const { DataIntegrityProof }: DataIntegrity = load('@digitalbazaar/data-integrity');
const { verifyCredential }: Credentials = load('@digitalbazaar/vc');

/** The contexts that the implementation knows without loading them. */
const [MULTIKEY, DID] = ['https://w3id.org/security/multikey/v1', 'https://www.w3.org/ns/did/v1'];

/** A document with the public keys of an issuer (Controlled Identifiers 1.0). */
interface ControlledIdentifier {
  verificationMethod: { id: string }[];
}

/** Verifies a W3C credential with a third-party implementation. `read` returns the document at a URL. */
export async function isVerifiedByOthers(
  credential: string,
  read: (url: string) => Promise<ControlledIdentifier>,
): Promise<boolean> {
  const { verified } = await verifyCredential({
    credential: JSON.parse(credential),
    suite: new DataIntegrityProof({ cryptosuite: createVerifyCryptosuite() }),
    documentLoader: async (url) => {
      const found = await read(url);
      const method = found.verificationMethod.find(({ id }) => id === url);
      return {
        documentUrl: url,
        document: method ? { '@context': MULTIKEY, ...method } : { ...found, '@context': DID },
      };
    },
    checkStatus: () => ({ verified: true }),
  });
  return verified;
}
