import { CREDENTIAL_PROFILES, EXPIRES_IN, MAX_PATHS, RULES, vctOf } from '@iss/domain';
import { shown } from '../describe/field';
import { arrayWith, flag, integerFrom, oneOf, text, time, uuid } from '../describe/fields';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { type ResponseFacts, answer, operations } from '../describe/operation';
import { ERROR_SCHEMA } from '../describe/errors';
import { body, type SentOf } from '../describe/shape';
import { view, type ViewOf } from '../describe/view';
import { PATH_PATTERN } from '../sharing/grant';
import { EXAMPLE_ISSUER } from './issuing-keys';

export const PRE_AUTHORIZED_GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

/** The id of the configuration for the view of a version. Profiles have their own names. */
export const VIEW_CONFIGURATION = 'entity_state';

export const FORM_TYPE = 'application/x-www-form-urlencoded';
const anyJson = shown<object>({ type: 'object', additionalProperties: true });

export const profile = oneOf(CREDENTIAL_PROFILES).described(
  'A published attestation type of WE BUILD, to which the version is mapped. It takes no `paths`. 409 names the places of ' +
    'the version that lack what the type needs.',
);

export const CredentialOffer = view('CredentialOffer', {
  offer_id: uuid.described('The id of the offer. The credential that a wallet takes names it.'),
  credential_offer: anyJson.described('The offer by value (OpenID4VCI 1.0, section 4.1).'),
  credential_offer_uri: text.described('The offer as a link that opens a wallet. Show it as a QR code or a link.'),
  tx_code: text
    .nullable()
    .described(
      'Six digits that the user of the wallet must enter. Send them on another way than the offer. The service does not ' +
        'show them again.',
    ),
  expires_at: time.described('When the offer expires: after ten minutes.'),
});
export type CredentialOffer = ViewOf<typeof CredentialOffer>;

export const CreateCredentialOfferBody = body(
  'CreateCredentialOfferBody',
  {
    paths: arrayWith({ type: 'string', pattern: PATH_PATTERN })
      .optional()
      .described(
        `The parts to disclose, as in a credential: 1 to ${MAX_PATHS} JSON Pointers below \`/attributes\`. Everything if ` +
          'it is absent. A grantee must leave it out.',
      )
      .example(['/attributes/legal/legal_name']),
    profile: profile.optional(),
    expires_in: integerFrom(EXPIRES_IN.min, EXPIRES_IN.max)
      .optional()
      .described(`How long the credential is valid, in seconds. Without it, ${EXPIRES_IN.default}.`),
    has_tx_code: flag
      .optional()
      .described(
        'If true, or absent, the wallet must send a `tx_code`. Without one, anybody who sees the offer can take it.',
      ),
  },
  { part: { value: { paths: ['/attributes/legal/legal_name'], expires_in: 86_400 } } },
);
export type CreateCredentialOfferBody = SentOf<typeof CreateCredentialOfferBody>;

export const EXAMPLE_CODE = 'nQb3E8o1tq5Q0m0m1x6y7g.7QmIGL1RVg0mmstz_YX0AVHUxWpX3MGZjIGuNo5P7wQ';
export const EXAMPLE_TX_CODE = '493536';
const EXAMPLE_OFFER = {
  credential_issuer: EXAMPLE_ISSUER,
  credential_configuration_ids: [VIEW_CONFIGURATION],
  grants: {
    [PRE_AUTHORIZED_GRANT]: {
      'pre-authorized_code': EXAMPLE_CODE,
      tx_code: { input_mode: 'numeric', length: 6 },
    },
  },
};

export const CREDENTIAL_OFFERS = operations('Credentials', '/v1/tenants/{tenant_id}', {
  createCredentialOffer: {
    route: 'POST /snapshots/{snapshot_id}/credential-offers',
    summary: 'Offer a credential of a version to a wallet (OpenID4VCI 1.0)',
    who: RULES.issueCredential,
    body: CreateCredentialOfferBody,
    isBodyOptional: true,
    description:
      'An offer by value with a pre-authorized code, which one wallet can take once. When it does, the right of the caller ' +
      'is decided again. The offer ends if the version is erased, the key is retired, or five wrong codes were sent. 409 ' +
      'if the owner has no issuing key. See [/docs/how-to/issue-credentials](/docs/how-to/issue-credentials).',
    answers: {
      201: answer('The offer.', CredentialOffer, {
        offer_id: EXAMPLE_IDS.offer_id,
        credential_offer: EXAMPLE_OFFER,
        credential_offer_uri: `openid-credential-offer://?credential_offer=${encodeURIComponent(JSON.stringify(EXAMPLE_OFFER))}`,
        tx_code: EXAMPLE_TX_CODE,
        expires_at: '2026-01-15T10:10:00Z',
      }),
    },
    errors: ['not_found', 'conflict', 'erased', 'limit_reached'],
  },
});

/** The error codes of RFC 6749, RFC 6750 and OpenID4VCI 1.0 that wallets get. */
export const OAUTH_ERRORS = [
  ...['invalid_request', 'invalid_grant', 'unsupported_grant_type', 'invalid_token', 'invalid_proof', 'invalid_nonce'],
  ...['invalid_credential_request', 'unknown_credential_configuration', 'unknown_credential_identifier'],
  ...['invalid_encryption_parameters', 'credential_request_denied'],
] as const;
export type OAuthErrorCode = (typeof OAUTH_ERRORS)[number];

const OAuthError = view('OAuthError', {
  error: oneOf(OAUTH_ERRORS).described('The kind of error, for programs.'),
  error_description: text.described('The problem and how to fix it.'),
});
export type OAuthErrorBody = ViewOf<typeof OAuthError>;

function refusal(description: string, error: OAuthErrorBody, others: readonly object[] = []): ResponseFacts {
  const schema = OAuthError.facts.shown;
  return {
    description,
    content: {
      'application/json': { schema: others.length === 0 ? schema : { anyOf: [schema, ...others] }, example: error },
    },
  };
}

/** A malformed path or query has the error envelope of the other operations. */
export const badRequest = (error: OAuthErrorBody): ResponseFacts =>
  refusal('The request is refused; `error` says why.', error, [ERROR_SCHEMA]);

const TokenAnswer = view('WalletToken', {
  access_token: text.described('Takes one credential.'),
  token_type: oneOf(['Bearer']).described('The way to send it.'),
  expires_in: shown<number>({ type: 'integer' }).described('How long it is valid, in seconds.'),
});
const NonceAnswer = view('WalletNonce', {
  c_nonce: text.described('The `nonce` of a proof. It is valid for five minutes.'),
});
const CredentialAnswer = view('WalletCredentials', {
  credentials: shown<readonly { credential: string }[]>({
    type: 'array',
    items: {
      type: 'object',
      properties: { credential: { type: 'string', description: 'The credential.' } },
      required: ['credential'],
    },
  }).described('The one credential, as an SD-JWT VC.'),
});
export type WalletToken = ViewOf<typeof TokenAnswer>;
export type WalletNonce = ViewOf<typeof NonceAnswer>;
export type WalletCredentials = ViewOf<typeof CredentialAnswer>;

const EXAMPLE_METADATA = {
  credential_issuer: EXAMPLE_ISSUER,
  credential_endpoint: `${EXAMPLE_ISSUER}/credential`,
  nonce_endpoint: `${EXAMPLE_ISSUER}/nonce`,
  credential_configurations_supported: Object.fromEntries(
    [null, ...CREDENTIAL_PROFILES].map((one) => [
      one ?? VIEW_CONFIGURATION,
      {
        format: 'dc+sd-jwt',
        vct: vctOf(one),
        cryptographic_binding_methods_supported: ['jwk'],
        credential_signing_alg_values_supported: ['EdDSA'],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256', 'EdDSA'] } },
        credential_metadata: { display: [{ name: 'Version of a record', locale: 'en' }] },
      },
    ]),
  ),
};

export const CredentialIssuer = view('CredentialIssuer', {
  credential_issuer: text.described('The issuer: the `aud` of proofs, and the `iss` of credentials.'),
  credential_endpoint: text.described('The URL at which a wallet takes a credential.'),
  nonce_endpoint: text.described('The URL at which a wallet gets a nonce.'),
  credential_configurations_supported: shown<object>({ type: 'object', additionalProperties: true }).described(
    'The kinds of credentials by the id that an offer names.',
  ),
});
export type CredentialIssuer = ViewOf<typeof CredentialIssuer>;

export const AuthorizationServer = view('AuthorizationServer', {
  issuer: text.described('The issuer.'),
  token_endpoint: text.described('The URL at which a wallet exchanges a code.'),
  grant_types_supported: shown<readonly string[]>({ type: 'array', items: { type: 'string' } }).described(
    'Only pre-authorized codes.',
  ),
  token_endpoint_auth_methods_supported: shown<readonly string[]>({
    type: 'array',
    items: { type: 'string' },
  }).described('Wallets need no registration.'),
  'pre-authorized_grant_anonymous_access_supported': flag.described('True: wallets need no `client_id`.'),
});
export type AuthorizationServer = ViewOf<typeof AuthorizationServer>;

const PUBLIC = { who: 'anyone' } as const;
const FOR_WALLETS = { ...PUBLIC, takesNoKey: true } as const;
const METADATA = 'Wallets may keep the answer for five minutes. 404 for a tenant that has no key.';

/** Operations for wallets. The paths follow from the URL of the issuer. */
export const WALLET = operations('Credentials', '', {
  getCredentialIssuer: {
    route: 'GET /.well-known/openid-credential-issuer/tenants/{tenant_id}',
    summary: 'Read what wallets can take from a tenant (OpenID4VCI 1.0)',
    ...PUBLIC,
    description: METADATA,
    answers: { 200: answer('The metadata.', CredentialIssuer, EXAMPLE_METADATA) },
    errors: ['not_found'],
  },
  getAuthorizationServer: {
    route: 'GET /.well-known/oauth-authorization-server/tenants/{tenant_id}',
    summary: 'Read where wallets exchange codes (RFC 8414)',
    ...PUBLIC,
    description: METADATA,
    answers: {
      200: answer('The metadata.', AuthorizationServer, {
        issuer: EXAMPLE_ISSUER,
        token_endpoint: `${EXAMPLE_ISSUER}/token`,
        grant_types_supported: [PRE_AUTHORIZED_GRANT],
        token_endpoint_auth_methods_supported: ['none'],
        'pre-authorized_grant_anonymous_access_supported': true,
      }),
    },
    errors: ['not_found'],
  },
  createWalletToken: {
    route: 'POST /tenants/{tenant_id}/token',
    summary: 'Exchange the code of an offer for an access token',
    ...FOR_WALLETS,
    description: 'Once, with the `tx_code` if the offer has one. The fifth wrong `tx_code` ends the offer.',
    body: {
      contentType: FORM_TYPE,
      schema: {
        title: 'WalletTokenRequest',
        type: 'object',
        properties: {
          grant_type: { type: 'string', description: 'The kind of the grant.', example: PRE_AUTHORIZED_GRANT },
          'pre-authorized_code': { type: 'string', description: 'The code of the offer.', example: EXAMPLE_CODE },
          tx_code: { type: 'string', description: 'The digits that the user entered.', example: EXAMPLE_TX_CODE },
        },
        required: ['grant_type', 'pre-authorized_code'],
      },
      examples: {
        code: {
          value: { grant_type: PRE_AUTHORIZED_GRANT, 'pre-authorized_code': EXAMPLE_CODE, tx_code: EXAMPLE_TX_CODE },
        },
      },
    },
    answers: {
      200: answer('The access token.', TokenAnswer, {
        access_token: EXAMPLE_CODE,
        token_type: 'Bearer',
        expires_in: 300,
      }),
      400: badRequest({ error: 'invalid_grant', error_description: 'The code or the tx_code is not valid any more.' }),
    },
  },
  createNonce: {
    route: 'POST /tenants/{tenant_id}/nonce',
    summary: 'Get a nonce for a proof',
    ...FOR_WALLETS,
    answers: {
      200: answer('The nonce.', NonceAnswer, {
        c_nonce: 'lq3k5c.9XJ0gPz8b5mQ2w.4tuHSCUXM66ztrzxhGG3WScaHDMHGoYyIIQPpW_NPtg',
      }),
    },
  },
  issueOfferedCredential: {
    route: 'POST /tenants/{tenant_id}/credential',
    summary: 'Take the offered credential, with a proof of the key that will hold it',
    ...FOR_WALLETS,
    description:
      'Send `Authorization: Bearer` with the access token. It takes one credential, which is bound to the `jwk` of the proof.',
    body: {
      schema: {
        title: 'WalletCredentialRequest',
        type: 'object',
        properties: {
          credential_configuration_id: { type: 'string', description: 'The id that the offer names.' },
          proofs: {
            type: 'object',
            description: 'The proof that the wallet holds a key.',
            properties: {
              jwt: {
                type: 'array',
                description: 'One JWT (`openid4vci-proof+jwt`) with a `jwk`, and `aud`, `iat` and `nonce`.',
                items: { type: 'string' },
              },
            },
            required: ['jwt'],
          },
        },
        required: ['credential_configuration_id', 'proofs'],
      },
      examples: {
        proof: { value: { credential_configuration_id: VIEW_CONFIGURATION, proofs: { jwt: ['eyJ…'] } } },
      },
    },
    answers: {
      200: answer('The credential.', CredentialAnswer, { credentials: [{ credential: 'eyJ…~WyJ…~' }] }),
      400: badRequest({
        error: 'invalid_nonce',
        error_description: 'The nonce is not valid any more. Get another one.',
      }),
      401: refusal('The access token is missing, or not valid any more.', {
        error: 'invalid_token',
        error_description: 'The access token is missing, or not valid any more. Start again with an offer.',
      }),
    },
  },
});
