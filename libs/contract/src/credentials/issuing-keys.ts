import { type JsonObject, RULES } from '@iss/domain';
import { constant, listOf, shown } from '../describe/field';
import { principalId, tenantId, text, time } from '../describe/fields';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { answer, operations } from '../describe/operation';
import { paged } from '../describe/page';
import { part, type RecordOf, view, type ViewOf } from '../describe/view';

const kid = text.described('The id of the key: the JWK thumbprint of its public part (RFC 7638).');
const iss = text.described('The `iss` of the credentials that the key signs.');
const jwk = shown<JsonObject>({ type: 'object', additionalProperties: true });

export const IssuingKey = view('IssuingKey', {
  kid,
  tenant_id: tenantId,
  issuer: iss,
  public_key: jwk.described('The public part, as a JWK.'),
  created_by: principalId.described('The principal that created the key.'),
  created_at: time.described('When the key was created.'),
  replaced_at: time
    .nullable()
    .described('When a newer key replaced it. From then on, it signs nothing. Null while it signs.'),
  retired_at: time
    .nullable()
    .described('When the key was retired: from then on, its credentials are invalid. Null if it was not.'),
});
export type IssuingKey = ViewOf<typeof IssuingKey>;

/** The metadata of an issuer of SD-JWT VC, from which verifiers get its keys. */
export const JwtVcIssuer = view('JwtVcIssuer', {
  issuer: text.described('The issuer: the `iss` of its credentials.'),
  jwks: shown<{ keys: readonly JsonObject[] }>({
    type: 'object',
    properties: {
      keys: {
        type: 'array',
        description: 'Ed25519 keys as JWKs (RFC 8037), the one that signs now first.',
        items: { type: 'object', additionalProperties: true },
      },
    },
    required: ['keys'],
  }).described('The public keys that verify its credentials and status lists.'),
});
export type JwtVcIssuer = ViewOf<typeof JwtVcIssuer>;

const methodId = text.described('The URL of a key: the `verificationMethod` of proofs.');

/** The metadata of an issuer of W3C credentials, from which verifiers get its keys. */
export const ControlledIdentifier = view('ControlledIdentifier', {
  '@context': constant('https://www.w3.org/ns/cid/v1').described('The JSON-LD context.'),
  id: text.described('The issuer: the `issuer` of its credentials, at which this document is read.'),
  verificationMethod: listOf(
    part({
      id: methodId,
      type: constant('Multikey').described('The form of the key.'),
      controller: text.described('The issuer.'),
      publicKeyMultibase: text.described('The Ed25519 public key, as a multikey.'),
    }),
  ).described('The public keys that verify its credentials, the one that signs now first.'),
  assertionMethod: listOf(methodId).described('The keys that may sign credentials: all of them.'),
});
export type ControlledIdentifier = ViewOf<typeof ControlledIdentifier>;

const PUBLIC_KEY = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  kid: EXAMPLE_IDS.kid,
  alg: 'EdDSA',
  use: 'sig',
};

export const EXAMPLE_ISSUER = 'https://identity.example.com/tenants/acme';

export const ISSUING_KEY: RecordOf<typeof IssuingKey> = {
  kid: EXAMPLE_IDS.kid,
  tenantId: 'acme',
  issuer: EXAMPLE_ISSUER,
  publicKey: PUBLIC_KEY,
  createdBy: 'oidc:dev#alice',
  createdAt: new Date('2026-01-15T09:00:00Z'),
  replacedAt: null,
  retiredAt: null,
};

const keyAnswer = (description: string) => answer(description, IssuingKey, IssuingKey.of(ISSUING_KEY));
const RETIRED = {
  ...ISSUING_KEY,
  replacedAt: new Date('2026-02-01T09:00:00Z'),
  retiredAt: new Date('2026-02-01T09:00:00Z'),
};

export const ISSUING_KEYS = operations('Credentials', '/v1/tenants/{tenant_id}/issuing-keys', {
  createIssuingKey: {
    route: 'POST ',
    summary: 'Create the key that signs the credentials of the tenant from now on',
    who: RULES.manageIssuingKeys,
    description:
      'An Ed25519 key, whose private part never leaves the service. The previous key signs nothing any more, and its ' +
      'private part is destroyed. Its credentials stay valid, and its public part stays published until they expire. ' +
      'See [/docs/how-to/issue-credentials](/docs/how-to/issue-credentials).',
    answers: { 201: keyAnswer('The key.') },
    errors: ['limit_reached'],
  },
  listIssuingKeys: {
    route: 'GET ',
    summary: 'List the issuing keys of the tenant, newest first',
    who: RULES.readIssuingKeys,
    ...paged('One page.', IssuingKey, [IssuingKey.of(ISSUING_KEY)]),
  },
  retireIssuingKey: {
    route: 'POST /{kid}/retire',
    summary: 'Retire a compromised key: its credentials become invalid',
    who: RULES.manageIssuingKeys,
    description:
      'The public part is no longer published, and each credential of the key becomes `invalid`. If the key signs, a ' +
      'new one replaces it. 409 if the key was retired before.',
    answers: { 200: answer('The retired key.', IssuingKey, IssuingKey.of(RETIRED)) },
    errors: ['not_found', 'conflict'],
  },
});

const MULTIKEY = 'z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';
const METHOD_ID = `${EXAMPLE_ISSUER}#${MULTIKEY}`;
const IDENTIFIER = {
  id: EXAMPLE_ISSUER,
  verificationMethod: [{ id: METHOD_ID, controller: EXAMPLE_ISSUER, publicKeyMultibase: MULTIKEY }],
  assertionMethod: [METHOD_ID],
};

export const ISSUERS = operations('Credentials', '', {
  getIssuer: {
    route: 'GET /tenants/{tenant_id}',
    summary: 'Read the keys that verify the credentials of a tenant (W3C Controlled Identifiers)',
    who: 'anyone',
    description: 'Verifiers may keep the answer for five minutes. 404 for a tenant that has no key.',
    answers: {
      200: answer('The issuer.', ControlledIdentifier, ControlledIdentifier.of(IDENTIFIER)),
    },
    errors: ['not_found'],
  },
  getJwtVcIssuer: {
    route: 'GET /.well-known/jwt-vc-issuer/tenants/{tenant_id}',
    summary: 'Read the keys that verify the credentials of a tenant (SD-JWT VC)',
    who: 'anyone',
    description: 'Verifiers may keep the answer for five minutes. 404 for a tenant that has no key.',
    answers: {
      200: answer('The issuer.', JwtVcIssuer, { issuer: EXAMPLE_ISSUER, jwks: { keys: [PUBLIC_KEY] } }),
    },
    errors: ['not_found'],
  },
});
