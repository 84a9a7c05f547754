import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { useGet, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, Empty } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateSubscription } from './dialogs.tsx';
import { DELIVERY_TONES, isRetried, type Subscription, subscriptionPath, SUBSCRIPTIONS } from './webhooks.ts';
import styles from './styles.module.css';

/** The number of subscriptions whose health is loaded at once. */
const SHOWN = 20;
const NEWEST = 30;

export function WebhooksView() {
  const tenantId = useTenantId();
  const may = useMay(tenantId);
  const [isCreating, setCreating] = useState(false);
  const query = { tenant_id: tenantId, limit: SHOWN };
  const list = useList<Subscription>(SUBSCRIPTIONS, query);
  return (
    <Page
      title={TEXT.title}
      note={TEXT.note}
      call={{ method: 'GET', path: SUBSCRIPTIONS, query }}
      actions={
        may('POST /v1/webhook-subscriptions') && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            {TEXT.create}
          </Button>
        )
      }
    >
      <ListTable
        caption={TEXT.caption}
        list={list}
        keyOf={({ subscription_id: id }) => id}
        empty={
          <Empty title={TEXT.none}>
            <p>{TEXT.noneText}</p>
          </Empty>
        }
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
      {isCreating && <CreateSubscription tenantId={tenantId} onClose={() => setCreating(false)} />}
    </Page>
  );
}

export function SubscriptionStatus({
  of: { subscription_id: id, status, disabled_reason: reason },
}: {
  of: Subscription;
}) {
  const arrived = useLastSuccess(status === 'active' ? id : null);
  if (status === 'active')
    return <Badge tone={arrived === null ? 'plain' : 'good'}>{arrived === null ? TEXT.unproved : TEXT.active}</Badge>;
  return (
    <Badge tone={reason === 'requested' ? 'plain' : 'bad'}>
      {reason === null ? TEXT.disabled : TEXT.reasons[reason]}
    </Badge>
  );
}

/** Shows the newest deliveries as strokes, oldest first, and in words. */
function Health({ id }: { id: string }) {
  const { data, error } = useGet<api.DeliveryPage>(`${subscriptionPath(id)}/deliveries`, { limit: NEWEST });
  if (error !== null) return <span className={styles.quiet}>{error.message}</span>;
  if (data === undefined) return null;
  const { items } = data;
  if (items.length === 0) return <span className={styles.quiet}>{TEXT.nothingSent}</span>;
  const count = (wanted: api.Delivery['status']): number => items.filter(({ status }) => status === wanted).length;
  const retried = items.filter(isRetried).length;
  return (
    <>
      <span className={styles.strip} aria-hidden="true">
        {items.toReversed().map((delivery) => (
          <i key={delivery.delivery_id} data-status={isRetried(delivery) ? 'dead' : delivery.status} />
        ))}
      </span>
      {TEXT.healthOf(count('succeeded'), count('dead'), count('skipped'), retried, count('pending') - retried)}
    </>
  );
}

/** Returns the time of the last successful delivery; null if there is none or it is not loaded. */
function useLastSuccess(id: string | null): string | null {
  const path = id === null ? null : `${subscriptionPath(id)}/deliveries`;
  return useGet<api.DeliveryPage>(path, { limit: 1, status: 'succeeded' }).data?.items[0]?.finished_at ?? null;
}

function LastSuccess({ id }: { id: string }) {
  const at = useLastSuccess(id);
  return at === null ? <span className={styles.quiet}>{TEXT.never}</span> : <Time at={at} />;
}

export function deliveryWord(of: api.Delivery): string {
  return isRetried(of) ? TEXT.retried : TEXT.statuses[of.status];
}

export function DeliveryStatus({ of }: { of: api.Delivery }) {
  return <Badge tone={isRetried(of) ? 'warn' : DELIVERY_TONES[of.status]}>{deliveryWord(of)}</Badge>;
}
