import { TRANSFER_OFFER_STATUSES } from '@iss/domain';
import { type TransferOfferRecord } from '@iss/persistence';
import { named, object, type Schema, TIMESTAMP, UUID } from '../../http/describe/openapi';

export interface TransferOfferView {
  transfer_offer_id: string;
  /** The name that the path uses. */
  offer_id: string;
  tenant_id: string;
  from_principal_id: string;
  to_principal_id: string;
  message: string | null;
  status: string;
  created_at: string;
  expires_at: string | null;
  resolved_at: string | null;
}

export function transferOfferView(offer: TransferOfferRecord): TransferOfferView {
  return {
    transfer_offer_id: offer.offerId,
    offer_id: offer.offerId,
    tenant_id: offer.tenantId,
    from_principal_id: offer.fromPrincipalId,
    to_principal_id: offer.toPrincipalId,
    message: offer.message,
    status: offer.status,
    created_at: offer.createdAt.toISOString(),
    expires_at: offer.expiresAt?.toISOString() ?? null,
    resolved_at: offer.resolvedAt?.toISOString() ?? null,
  };
}

const TEXT: Schema = { type: 'string' };
const OPTIONAL_TIMESTAMP: Schema = { type: ['string', 'null'], format: 'date-time' };

export const TRANSFER_OFFER = named(
  'TransferOffer',
  object({
    transfer_offer_id: UUID,
    offer_id: { ...UUID, deprecated: true, description: 'Alias of transfer_offer_id.' },
    tenant_id: TEXT,
    from_principal_id: TEXT,
    to_principal_id: TEXT,
    message: { type: ['string', 'null'] },
    status: { type: 'string', enum: TRANSFER_OFFER_STATUSES },
    created_at: TIMESTAMP,
    expires_at: OPTIONAL_TIMESTAMP,
    resolved_at: { ...OPTIONAL_TIMESTAMP, description: 'When it left `pending`.' },
  }),
);

const PENDING: TransferOfferRecord = {
  offerId: '0c7a4be2-3f0d-4c58-9b0e-5a1d2c3e4f60',
  tenantId: 'acme',
  fromPrincipalId: 'oidc:dev#alice',
  toPrincipalId: 'oidc:dev#carol',
  message: 'Over to you.',
  status: 'pending',
  createdAt: new Date('2026-01-15T10:00:00Z'),
  expiresAt: new Date('2099-01-01T00:00:00Z'),
  resolvedAt: null,
};

export const TRANSFER_OFFER_EXAMPLE = transferOfferView(PENDING);

/** The example after it ended. */
export function endedExample(status: TransferOfferRecord['status']): TransferOfferView {
  return transferOfferView({ ...PENDING, status, resolvedAt: new Date('2026-01-16T08:00:00Z') });
}
