import { Link } from '@tanstack/react-router';
import { useTenantId } from '../../app/address.ts';
import { apiCall } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { ListPage } from '../../forms/list-page.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { CreateSubscription } from './dialogs.tsx';
import { Health, LastSuccess, SubscriptionStatus } from './status.tsx';
import { SUBSCRIPTIONS } from './webhooks.ts';
import { TEXT } from './words.ts';

/** The number of subscriptions whose health is loaded at once. */
const PAGE_SIZE = 20;

export function WebhooksView() {
  const tenantId = useTenantId();
  const may = useMay(tenantId);
  const call = apiCall('GET', SUBSCRIPTIONS, { query: { tenant_id: tenantId, limit: PAGE_SIZE } });
  return (
    <ListPage
      title={TEXT.title}
      note={TEXT.note}
      call={call}
      actions={
        may('POST /v1/webhook-subscriptions') && (
          <DialogButton kind="primary" label={TEXT.create}>
            {(close) => <CreateSubscription tenantId={tenantId} onClose={close} />}
          </DialogButton>
        )
      }
      caption={TEXT.caption}
      keyOf={({ subscription_id: id }) => id}
      empty={{ title: TEXT.none, text: TEXT.noneText }}
      columns={[
        {
          title: TEXT.url,
          isHeader: true,
          value: ({ target_url: url }) => url,
          cell: ({ subscription_id: subscriptionId, target_url: url }) => (
            <Link to="/t/$tenantId/webhooks/$subscriptionId" params={{ tenantId, subscriptionId }}>
              {url}
            </Link>
          ),
        },
        {
          title: TEXT.status,
          value: (subscription) => subscription.disabled_reason ?? subscription.status,
          cell: (subscription) => <SubscriptionStatus of={subscription} />,
        },
        {
          title: TEXT.events,
          value: ({ event_types: types }) => types.join(' '),
          cell: ({ event_types: types }) => <span title={types.join(', ')}>{TEXT.eventCount(types.length)}</span>,
        },
        { title: TEXT.health, cell: ({ subscription_id: id }) => <Health id={id} /> },
        { title: TEXT.lastSuccess, cell: ({ subscription_id: id }) => <LastSuccess id={id} /> },
        { title: TEXT.since, at: ({ created_at: at }) => at, dayOnly: true },
      ]}
    />
  );
}
