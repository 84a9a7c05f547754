import { TRANSFER_OFFER_STATUSES } from '@iss/domain';
import type { TransferOfferRecord } from '@iss/persistence';
import { type Answer, answer } from '../../http/describe/openapi';
import { EXAMPLE_IDS } from '../../http/describe/example-ids';
import { alias } from '../../http/describe/field';
import { part, view, type ViewOf } from '../../http/describe/view';
import { oneOf, principalId, prose, tenantId, time, uuid } from '../../http/request/fields';
import { body, type SentOf } from '../../http/request/shape';

const message = prose(2000).nullable().described('Words to whom it is made.');

/** `offer_id` is the name that the path uses. */
export const TransferOffer = view('TransferOffer', {
  transfer_offer_id: uuid.from('offerId').described('The id of the transfer offer.'),
  offer_id: alias('transfer_offer_id'),
  tenant_id: tenantId,
  from_principal_id: principalId.described('The tenant owner who makes it.'),
  to_principal_id: principalId.described('Who is to become owner.'),
  message,
  status: oneOf(TRANSFER_OFFER_STATUSES).described('Where it stands.'),
  created_at: time.described('When it was made.'),
  expires_at: time.nullable().described('From when on it is `expired`; null: never.'),
  resolved_at: time.nullable().described('When it left `pending`.'),
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
      .described('Who is to become owner. Need not be a member yet.'),
    message: message.optional().example('Over to you.'),
    expires_at: time
      .nullable()
      .optional()
      .example('2099-01-01T00:00:00Z')
      .described(
        'In the future; from then on the offer is `expired`. Without it the offer stands until it is answered.',
      ),
  },
  {
    carol: {
      value: { to_principal_id: 'oidc:dev#carol', message: 'Over to you.', expires_at: '2099-01-01T00:00:00Z' },
    },
  },
);
export type CreateTransferOfferBody = SentOf<typeof CreateTransferOfferBody>;

export const PENDING: TransferOfferRecord = {
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

/** An answer that holds one offer. */
export function offerAnswer(description: string, status: TransferOfferRecord['status']): Answer {
  const resolvedAt = status === 'pending' ? null : new Date('2026-01-16T08:00:00Z');
  return answer(description, WrappedOffer, WrappedOffer.of({ ...PENDING, status, resolvedAt }));
}
