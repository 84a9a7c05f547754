import { RULES, TRANSFER_OFFER_STATUSES } from '@iss/domain';
import { oneOf, principalId, prose, tenantId, time, uuid } from '../describe/fields';
import { part, type RecordOf, view, type ViewOf } from '../describe/view';
import { alias } from '../describe/field';
import { body, type SentOf } from '../describe/shape';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { type ResponseFacts, answer, operations } from '../describe/operation';
import { paged } from '../describe/page';

const message = prose(2000).nullable().described('A message to the offered principal.');

/** `offer_id` is the name in the path. */
export const TransferOffer = view('TransferOffer', {
  transfer_offer_id: uuid.from('offerId').described('The id of the transfer offer.'),
  offer_id: alias('transfer_offer_id'),
  tenant_id: tenantId,
  from_principal_id: principalId.described('The tenant owner that makes the offer.'),
  to_principal_id: principalId.described('The offered principal.'),
  message,
  status: oneOf(TRANSFER_OFFER_STATUSES).described('The state of the offer.'),
  created_at: time.described('When the offer was made.'),
  expires_at: time.nullable().described('When the offer becomes `expired`; null: never.'),
  resolved_at: time.nullable().described('When the offer left `pending`; null while it is `pending`.'),
});
export type TransferOffer = ViewOf<typeof TransferOffer>;

export const WrappedOffer = part({ transfer_offer: TransferOffer.fromRecord().described('The transfer offer.') });
export type WrappedOffer = ViewOf<typeof WrappedOffer>;

/** Body of `POST …/transfer-offers` (contract, "Transfer offers"). */
export const CreateTransferOfferBody = body(
  'CreateTransferOfferBody',
  {
    to_principal_id: principalId
      .example('oidc:dev#carol')
      .described('The principal that will become owner. It need not be a member yet.'),
    message: message.optional().example('Over to you.'),
    expires_at: time
      .nullable()
      .optional()
      .example('2099-01-01T00:00:00Z')
      .described('When the offer expires; must be in the future. Absent: never.'),
  },
  {
    carol: {
      value: { to_principal_id: 'oidc:dev#carol', message: 'Over to you.', expires_at: '2099-01-01T00:00:00Z' },
    },
  },
);
export type CreateTransferOfferBody = SentOf<typeof CreateTransferOfferBody>;

export const PENDING_OFFER: RecordOf<typeof TransferOffer> = {
  offerId: EXAMPLE_IDS.offer_id,
  tenantId: 'acme',
  fromPrincipalId: 'oidc:dev#alice',
  toPrincipalId: 'oidc:dev#carol',
  message: 'Over to you.',
  status: 'pending',
  createdAt: new Date('2026-01-15T10:00:00Z'),
  expiresAt: new Date('2099-01-01T00:00:00Z'),
  resolvedAt: null,
};

/** Documents a response with one offer. */
function offerAnswer(description: string, status: TransferOffer['status']): ResponseFacts {
  const resolvedAt = status === 'pending' ? null : new Date('2026-01-16T08:00:00Z');
  return answer(description, WrappedOffer, WrappedOffer.of({ ...PENDING_OFFER, status, resolvedAt }));
}

export const TRANSFER_OFFERS = operations('Transfer offers', '/v1/tenants/{tenant_id}/transfer-offers', {
  createTransferOffer: {
    route: 'POST ',
    summary: 'Offer the ownership of the tenant to another principal',
    who: RULES.offerTransfer,
    body: CreateTransferOfferBody,
    description:
      'Needs a human owner (422 otherwise). In a tenant without a `tenant_owner`, an `account_admin` of any ' +
      'type may offer it; this is how a tenant founded by a machine gets its owner. The other principal need ' +
      'not be a member yet. A tenant has at most one pending offer (409).',
    answers: { 201: offerAnswer('The pending offer.', 'pending') },
    errors: ['conflict', 'human_principal_required'],
    replayFor: RULES.readTenant,
  },
  listTransferOffers: {
    route: 'GET ',
    summary: 'List the transfer offers of the tenant, newest first',
    who: RULES.readTransferOffers,
    ...paged('One page.', TransferOffer, [TransferOffer.of(PENDING_OFFER)]),
    description: 'An offered principal sees the offers made to it, even if it is not a member.',
  },
  getTransferOffer: {
    route: 'GET /{offer_id}',
    summary: 'Read a transfer offer',
    who: RULES.readTransferOffers,
    description: 'The offered principal can read it too, even if it is not a member.',
    answers: { 200: offerAnswer('The offer.', 'pending') },
    errors: ['not_found'],
  },
  acceptTransferOffer: {
    route: 'POST /{offer_id}/accept',
    summary: 'Accept a transfer offer',
    who: 'any_principal',
    description:
      'Only the offered principal can accept, and it must be human (422 otherwise). It becomes `tenant_owner` ' +
      'and `account_admin` immediately. An offerer that is an owner becomes `tenant_admin`; any other offerer ' +
      'keeps its role. 409 unless the offer is pending and the offerer may still make it.',
    answers: { 200: offerAnswer('The accepted offer.', 'accepted') },
    errors: ['forbidden', 'not_found', 'conflict', 'human_principal_required'],
  },
  declineTransferOffer: {
    route: 'POST /{offer_id}/decline',
    summary: 'Decline a transfer offer',
    who: 'any_principal',
    description:
      'Only the offered principal can decline, and it must be human (422 otherwise). 409 unless the offer is pending.',
    answers: { 200: offerAnswer('The declined offer.', 'declined') },
    errors: ['forbidden', 'not_found', 'conflict', 'human_principal_required'],
  },
  cancelTransferOffer: {
    route: 'POST /{offer_id}/cancel',
    summary: 'Cancel a transfer offer',
    who: RULES.readTenant,
    description: 'Only the principal that made the offer can cancel it. 409 unless the offer is pending.',
    answers: { 200: offerAnswer('The cancelled offer.', 'cancelled') },
    errors: ['not_found', 'conflict'],
  },
});
