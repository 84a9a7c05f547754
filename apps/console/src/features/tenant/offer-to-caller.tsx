import { apiCall, useList } from '../../app/api.ts';
import { Section } from '../../ui/page.tsx';
import { OfferTable } from './offers.tsx';
import { TEXT } from './words.ts';

/** Shows an offer of ownership to its recipient, who need not be a member of the tenant. */
export default function OfferToCaller({ tenantId }: { tenantId: string }) {
  const { items, error } = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/transfer-offers', { path: { tenant_id: tenantId } }),
  );
  if (error !== null || items.length === 0) return null;
  return (
    <Section title={TEXT.tabs.offers}>
      <OfferTable tenantId={tenantId} />
    </Section>
  );
}
