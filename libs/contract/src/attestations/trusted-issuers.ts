import { type JsonObject, RULES } from '@iss/domain';
import { listOf, shown, withMembers } from '../describe/field';
import { arrayWith, issuer, tenantId, text, time } from '../describe/fields';
import { answer, operations } from '../describe/operation';
import { paged } from '../describe/page';
import { body, type SentOf } from '../describe/shape';
import { type RecordOf, view, type ViewOf } from '../describe/view';
import { EXAMPLE_CREDENTIAL } from './example-credential';

/** The members of public keys, and those of private keys, which are refused. */
export const JWK_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use', 'd', 'k'];
const JWK = { type: 'object', additionalProperties: true };
const vcts = 'The types of credentials (`vct`) that the tenant accepts from the issuer: 1 to 100.';
const keys = 'The public keys of the issuer, as JWKs: at most 20.';
const roots =
  'Certificates in PEM, or base64 of DER: at most 10. Each is an authority that certifies keys of the issuer, or a ' +
  'certificate of the issuer. A credential can then contain its certificate chain in `x5c`. A subject alternative name ' +
  'of the first certificate must be the issuer.';

export const TrustedIssuer = view('TrustedIssuer', {
  tenant_id: tenantId,
  issuer,
  vcts: listOf(text).described(vcts),
  keys: listOf(shown<JsonObject>(JWK)).described(keys),
  roots: listOf(text).described('Certificates, as base64 of DER.'),
  created_at: time.described('When the tenant began to trust the issuer.'),
  updated_at: time.described('When the entry was last replaced.'),
});
export type TrustedIssuer = ViewOf<typeof TrustedIssuer>;

/** Body of `PUT …/trusted-issuers/{issuer}`. The service checks the items. */
export const PutTrustedIssuerBody = body(
  'PutTrustedIssuerBody',
  {
    vcts: arrayWith({ type: 'string' }).described(vcts).example([EXAMPLE_CREDENTIAL.vct]),
    keys: withMembers(arrayWith(JWK), JWK_MEMBERS)
      .optional()
      .described(`${keys} Required without \`roots\`.`)
      .example([{ ...EXAMPLE_CREDENTIAL.key }]),
    roots: arrayWith({ type: 'string' }).optional().described(`${roots} Required without \`keys\`.`),
  },
  { registry: { value: { vcts: [EXAMPLE_CREDENTIAL.vct], keys: [{ ...EXAMPLE_CREDENTIAL.key }] } } },
);
export type PutTrustedIssuerBody = SentOf<typeof PutTrustedIssuerBody>;

export const TRUSTED_ISSUER: RecordOf<typeof TrustedIssuer> = {
  tenantId: 'acme',
  issuer: EXAMPLE_CREDENTIAL.issuer,
  vcts: [EXAMPLE_CREDENTIAL.vct],
  keys: [{ ...EXAMPLE_CREDENTIAL.key }],
  roots: [],
  createdAt: new Date('2026-01-15T09:00:00Z'),
  updatedAt: new Date('2026-01-15T09:00:00Z'),
};

const trusted = (description: string) => answer(description, TrustedIssuer, TrustedIssuer.of(TRUSTED_ISSUER));

export const TRUSTED_ISSUERS = operations('Attestations', '/v1/tenants/{tenant_id}/trusted-issuers', {
  listTrustedIssuers: {
    route: 'GET ',
    summary: 'List the issuers whose credentials the tenant accepts, by name',
    who: RULES.readTrustedIssuers,
    ...paged('One page.', TrustedIssuer, [TrustedIssuer.of(TRUSTED_ISSUER)]),
  },
  getTrustedIssuer: {
    route: 'GET /{issuer}',
    summary: 'Read a trusted issuer',
    who: RULES.readTrustedIssuers,
    answers: { 200: trusted('The issuer.') },
    errors: ['not_found'],
  },
  putTrustedIssuer: {
    route: 'PUT /{issuer}',
    summary: 'Accept credentials of an issuer as evidence',
    who: RULES.manageTrustedIssuers,
    body: PutTrustedIssuerBody,
    description:
      'Adds the issuer, or replaces its entry. Existing attestations stay as they are. Their status is read with the ' +
      'new keys. See [/docs/how-to/attestations](/docs/how-to/attestations).',
    answers: { 200: trusted('The issuer.') },
    errors: ['limit_reached'],
  },
  removeTrustedIssuer: {
    route: 'DELETE /{issuer}',
    summary: 'Accept no more credentials of an issuer',
    who: RULES.manageTrustedIssuers,
    description: 'Existing attestations stay. Their status is not read any more.',
    answers: { 204: { description: 'Removed.' } },
    errors: ['not_found'],
  },
});
