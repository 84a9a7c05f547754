import {
  anyText,
  ATTESTATION_EVIDENCE,
  ATTESTATION_STATUSES,
  attestationIdOf,
  described,
  objectOf,
  RULES,
} from '@iss/domain';
import { field, withMembers } from '../describe/field';
import { count, flag, hash, issuer, line, logWait, oneOf, principalId, tenantId, text, time } from '../describe/fields';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { type ResponseFacts, answer, operations } from '../describe/operation';
import { paged } from '../describe/page';
import { body, query, type SentOf } from '../describe/shape';
import { part, type RecordOf, view, type ViewOf } from '../describe/view';
import { EXAMPLE_CREDENTIAL } from './example-credential';

const attestationId = text.madeOf(attestationIdOf);

export const Attestation = view('Attestation', {
  attestation_id: attestationId.described('The id of the attestation.'),
  tenant_id: tenantId,
  issuer,
  vct: text.described('The type of the credential.'),
  digest: hash.described('SHA-256 of the credential with its disclosures, without the key binding.'),
  has_key_binding: flag.described('True if the holder signed the presentation, and the signature was verified.'),
  added_by: principalId.described('The principal that added the credential.'),
  verified_at: time.described('When the credential was verified.'),
  expires_at: time.nullable().described('When the credential expires; null: never.'),
  status: oneOf(ATTESTATION_STATUSES).described(
    '`none`: the credential names no status. `pending`: its status list was not read yet. `revoked` is final. `other`: a ' +
      'status whose meaning only the issuer defines.',
  ),
  status_at: time.nullable().described('When the status was last read; null if it never was.'),
  status_list: part({
    uri: text.described('The status list that the credential names.'),
    idx: count.described('The index in the list.'),
  })
    .nullable()
    .described('The place of the status; null if the credential names none.'),
  status_problem: text
    .nullable()
    .described('Why the status list could not be read the last time; null if it could. The service retries.'),
  evidence: part({
    evidence_id: attestationId.from('attestationId').described('The id of the attestation.'),
    evidence_type: text.described(`Always \`${ATTESTATION_EVIDENCE}\`.`),
    source: text.described('The issuer.'),
    captured_at: time.described('When the credential was verified.'),
    hash: part({
      alg: text.described('Always `sha-256`.'),
      value: text.from('digest').described('The digest of the credential.'),
    }).described('The hash of the credential.'),
    locator: attestationId
      .from('attestationId')
      .described('The id of the attestation. Keep it: it connects the evidence with the status.'),
  })
    .nullable()
    .described('The item for `evidence` of an envelope. Null unless the status is `valid` or `none`.'),
});
export type Attestation = ViewOf<typeof Attestation>;

/** Body of `POST …/attestations`. */
export const CreateAttestationBody = body(
  'CreateAttestationBody',
  {
    credential: line(65_536)
      .described('An SD-JWT VC in compact form, with disclosures, and with a key binding if `key_binding` is sent.')
      .example(EXAMPLE_CREDENTIAL.text),
    key_binding: withMembers(
      field(
        objectOf({
          nonce: described('The nonce of the key binding.', anyText),
          audience: described('The audience of the key binding.', anyText),
        }),
      ),
      ['nonce', 'audience'],
    )
      .optional()
      .described('The nonce and audience that the holder must have signed in the last 300 seconds.')
      .example({ nonce: 'n-0S6_WzA2Mj', audience: 'https://identity.example.com' }),
  },
  { extract: { value: { credential: EXAMPLE_CREDENTIAL.text } } },
);
export type CreateAttestationBody = SentOf<typeof CreateAttestationBody>;

export const CreateAttestationQuery = query({
  wait: logWait.described('Seconds to wait until the status of the credential is read.').example('10'),
});
export type CreateAttestationQuery = SentOf<typeof CreateAttestationQuery>;

const attestationIdValue = EXAMPLE_IDS.attestation_id;
const verifiedAt = new Date('2026-01-15T10:00:00Z');

export const ATTESTATION: RecordOf<typeof Attestation> = {
  attestationId: attestationIdValue,
  tenantId: 'acme',
  issuer: EXAMPLE_CREDENTIAL.issuer,
  vct: EXAMPLE_CREDENTIAL.vct,
  digest: EXAMPLE_CREDENTIAL.digest,
  hasKeyBinding: false,
  addedBy: 'oidc:dev#alice',
  verifiedAt,
  expiresAt: null,
  status: 'none',
  statusAt: null,
  statusList: null,
  statusProblem: null,
  evidence: {
    attestationId: attestationIdValue,
    evidenceType: ATTESTATION_EVIDENCE,
    source: EXAMPLE_CREDENTIAL.issuer,
    capturedAt: verifiedAt,
    hash: { alg: 'sha-256', digest: EXAMPLE_CREDENTIAL.digest },
  },
};

const attestationAnswer = (description: string): ResponseFacts =>
  answer(description, Attestation, Attestation.of(ATTESTATION));

export const ATTESTATIONS = operations('Attestations', '/v1/tenants/{tenant_id}/attestations', {
  createAttestation: {
    route: 'POST ',
    summary: 'Verify a credential, and add it as evidence',
    who: RULES.createAttestation,
    body: CreateAttestationBody,
    query: CreateAttestationQuery,
    description:
      'The issuer must be trusted for the type of the credential. Signature, times, disclosures and key binding are ' +
      'verified (400 otherwise). The worker then reads the status list, and repeats it every hour. Only the digest of the ' +
      'credential is stored. Put `evidence` into a write or a proposal. See ' +
      '[/docs/how-to/attestations](/docs/how-to/attestations).',
    answers: { 201: attestationAnswer('The attestation.') },
    errors: ['limit_reached'],
  },
  listAttestations: {
    route: 'GET ',
    summary: 'List the attestations of the tenant, newest first',
    who: RULES.readAttestations,
    ...paged('One page.', Attestation, [Attestation.of(ATTESTATION)]),
  },
  getAttestation: {
    route: 'GET /{attestation_id}',
    summary: 'Read an attestation',
    who: RULES.readAttestations,
    answers: { 200: attestationAnswer('The attestation.') },
    errors: ['not_found'],
  },
});
