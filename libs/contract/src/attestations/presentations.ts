import { attestationIdOf, PRESENTATION_EXPIRES_IN, PRESENTATION_STATUSES, RULES } from '@iss/domain';
import { badRequest, FORM_TYPE } from '../credentials/offers';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { listOf, shown } from '../describe/field';
import { arrayWith, integerFrom, oneOf, principalId, tenantId, text, time, uuid } from '../describe/fields';
import { type ResponseFacts, answer, operations } from '../describe/operation';
import { body, type SentOf } from '../describe/shape';
import { type RecordOf, view, type ViewOf } from '../describe/view';
import { EXAMPLE_CREDENTIAL } from './example-credential';

const vcts = 'The types of credentials (`vct`), one of which the wallet must present.';
const claims =
  'The claims that it must disclose, as JSON Pointers. A number is the index of an item, and `*` means each item of an array.';

export const PresentationRequest = view('PresentationRequest', {
  presentation_request_id: uuid.described('The id of the request.'),
  tenant_id: tenantId,
  status: oneOf(PRESENTATION_STATUSES).described(
    '`received`: a credential was verified and stored. `refused`: the wallet refused, or the fifth answer was wrong.',
  ),
  vcts: listOf(text).described(vcts),
  claims: listOf(text).described(claims),
  attestation_id: text
    .madeOf(attestationIdOf)
    .nullable()
    .described('The attestation that the request yielded; null unless it is `received`.'),
  problem: text.nullable().described('Why the last answer was refused; null if none was, or if a later one was right.'),
  created_by: principalId.described('The principal that made the request.'),
  created_at: time.described('When the request was made.'),
  expires_at: time.described('When the request expires. An hour later the service deletes it.'),
  link: text
    .nullable()
    .described(
      'The request as a link that opens a wallet. Show it as a QR code or a link. Only the answer to the call that made ' +
        'the request contains it; otherwise null.',
    ),
});
export type PresentationRequest = ViewOf<typeof PresentationRequest>;

/** Body of `POST …/presentation-requests`. The service checks the items. */
export const CreatePresentationRequestBody = body(
  'CreatePresentationRequestBody',
  {
    vcts: arrayWith({ type: 'string' }).described(vcts).example([EXAMPLE_CREDENTIAL.vct]),
    claims: arrayWith({ type: 'string' }).optional().described(claims).example(['/legal_name']),
    expires_in: integerFrom(PRESENTATION_EXPIRES_IN.min, PRESENTATION_EXPIRES_IN.max)
      .optional()
      .described(`How long the wallet may answer, in seconds. Without it, ${PRESENTATION_EXPIRES_IN.default}.`),
  },
  { extract: { value: { vcts: [EXAMPLE_CREDENTIAL.vct], claims: ['/legal_name'] } } },
);
export type CreatePresentationRequestBody = SentOf<typeof CreatePresentationRequestBody>;

export const PRESENTATION_REQUEST: RecordOf<typeof PresentationRequest> = {
  presentationRequestId: EXAMPLE_IDS.presentation_request_id,
  tenantId: 'acme',
  status: 'pending',
  vcts: [EXAMPLE_CREDENTIAL.vct],
  claims: ['/legal_name'],
  attestationId: null,
  problem: null,
  createdBy: 'oidc:dev#alice',
  createdAt: new Date('2026-01-15T10:00:00Z'),
  expiresAt: new Date('2099-01-15T10:10:00Z'),
  link: null,
};
const LINK =
  'openid4vp://?client_id=redirect_uri%3Ahttps%3A%2F%2F…&response_type=vp_token&response_mode=direct_post.jwt&…';

const requestAnswer = (description: string, link: string | null): ResponseFacts =>
  answer(description, PresentationRequest, PresentationRequest.of({ ...PRESENTATION_REQUEST, link }));

export const PRESENTATION_REQUESTS = operations('Attestations', '/v1/tenants/{tenant_id}/presentation-requests', {
  createPresentationRequest: {
    route: 'POST ',
    summary: 'Request a credential from a wallet (OpenID4VP 1.0)',
    who: RULES.createAttestation,
    body: CreatePresentationRequestBody,
    description:
      'A request by value. The wallet sends an encrypted answer, which becomes an attestation as an uploaded credential ' +
      'does, if the caller still has the right. See [/docs/how-to/attestations](/docs/how-to/attestations).',
    answers: { 201: requestAnswer('The request, with its link.', LINK) },
    errors: ['limit_reached'],
  },
  getPresentationRequest: {
    route: 'GET /{presentation_request_id}',
    summary: 'Read a request to a wallet',
    who: RULES.readAttestations,
    answers: { 200: requestAnswer('The request.', null) },
    errors: ['not_found'],
  },
});

const RECEIVED = shown<object>({ title: 'PresentationReceived', type: 'object', description: 'An empty object.' });

/** The operation for wallets. Its path follows from the `response_uri` of a request. */
export const PRESENTATIONS = operations('Attestations', '', {
  createPresentation: {
    route: 'POST /openid4vp/responses/{response_id}',
    summary: 'Answer a request, as a wallet',
    who: 'anyone',
    takesNoKey: true,
    description:
      'One right answer, or the error of a wallet, ends the request. A wrong answer changes nothing, but the fifth ends it.',
    body: {
      contentType: FORM_TYPE,
      schema: {
        title: 'PresentationAnswer',
        type: 'object',
        description: 'Either `response` or `error`.',
        properties: {
          response: { type: 'string', description: 'The encrypted answer (`direct_post.jwt`).', example: 'eyJ…' },
          error: {
            type: 'string',
            description: 'The code of an error, if the wallet does not present a credential.',
            example: 'access_denied',
          },
        },
      },
      examples: { answer: { value: { response: 'eyJ…' } }, refusal: { value: { error: 'access_denied' } } },
    },
    answers: {
      200: answer('The answer was received.', RECEIVED, {}),
      400: badRequest({ error: 'invalid_request', error_description: 'The request was answered, or it has expired.' }),
    },
  },
});
