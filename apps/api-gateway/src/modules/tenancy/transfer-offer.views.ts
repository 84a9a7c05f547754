import { TRANSFER_OFFER_STATUSES } from '@iss/domain';
import type { TransferOfferRecord } from '@iss/persistence';
import {
  alias,
  body,
  EXAMPLE_IDS,
  oneOf,
  part,
  principalId,
  prose,
  type SentOf,
  tenantId,
  time,
  uuid,
  view,
  type ViewOf,
} from '@iss/contract';
import { type Answer, answer } from '../../http/describe/openapi';

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

/** Documents a response with one offer. */
export function offerAnswer(description: string, status: TransferOfferRecord['status']): Answer {
  const resolvedAt = status === 'pending' ? null : new Date('2026-01-16T08:00:00Z');
  return answer(description, WrappedOffer, WrappedOffer.of({ ...PENDING, status, resolvedAt }));
}
