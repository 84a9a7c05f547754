import { type ReactNode, useState } from 'react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useTenantId } from '../../app/address.ts';
import { apiCall, useAction, useGet } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { useFilters } from '../../forms/filters.tsx';
import { Button } from '../../ui/button.tsx';
import { Hash } from '../../ui/copy.tsx';
import { Answer, Badge, Facts, Notice, Page, Problem, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { Deliveries } from './deliveries.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { ChangeSubscription, DisableSubscription, EndSubscription, RotateSecret } from './dialogs.tsx';
import { Replay } from './replay.tsx';
import { SubscriptionStatus } from './status.tsx';
import { OF_SUBSCRIPTION, type Subscription, subscriptionPath, SUBSCRIPTIONS } from './webhooks.ts';
import { TEXT } from './words.ts';

/** Shows a subscription, its health, its deliveries, and the actions on it. */
export function WebhookView() {
  const tenantId = useTenantId();
  const { subscriptionId } = useParams({ from: '/signed-in/t/$tenantId/webhooks/$subscriptionId' });
  const { search, push } = useFilters();
  const may = useMay(tenantId);
  const call = apiCall('GET', OF_SUBSCRIPTION, { path: { subscription_id: subscriptionId } });
  const answer = useGet(call);
  const deliveryId = search['delivery'];
  return (
    <Page
      title={TEXT.one}
      note={answer.data?.webhook_subscription.target_url}
      call={call}
      actions={
        <Link to="/t/$tenantId/webhooks" params={{ tenantId }}>
          {TEXT.back}
        </Link>
      }
    >
      <Answer query={answer}>
        {({ webhook_subscription: subscription }) => <About tenantId={tenantId} subscription={subscription} />}
      </Answer>
      <Deliveries subscriptionId={subscriptionId} />
      {deliveryId !== undefined && (
        <DeliveryDialog
          subscriptionId={subscriptionId}
          deliveryId={deliveryId}
          mayRedeliver={may('POST /v1/webhook-subscriptions/{subscription_id}/deliveries/{delivery_id}/redeliver')}
          onClose={() => push({ delivery: '' })}
        />
      )}
    </Page>
  );
}

type Open = 'change' | 'rotate' | 'disable' | 'end' | 'replay';

function About({ tenantId, subscription }: { tenantId: string; subscription: Subscription }) {
  const may = useMay(tenantId);
  const path = { subscription_id: subscription.subscription_id };
  const [open, setOpen] = useState<Open | null>(null);
  const test = useAction(subscriptionPath(subscription.subscription_id));
  const enable = useAction(SUBSCRIPTIONS);
  const isActive = subscription.status === 'active';
  const mayChange = may('PATCH /v1/webhook-subscriptions/{subscription_id}');
  const opener = (what: Open, isDanger = false): ReactNode => (
    <Button small kind={isDanger ? 'danger' : 'normal'} onClick={() => setOpen(what)}>
      {TEXT[what]}
    </Button>
  );
  return (
    <Section
      title={TEXT.subscription}
      actions={
        <>
          {isActive && may('POST /v1/webhook-subscriptions/{subscription_id}/test') && (
            <Button
              small
              kind="primary"
              isPending={test.isPending}
              onClick={() => test.mutate(apiCall('POST', `${OF_SUBSCRIPTION}/test`, { path }))}
            >
              {TEXT.test}
            </Button>
          )}
          {isActive && may('POST /v1/webhook-subscriptions/{subscription_id}/deliveries/replay') && opener('replay')}
          {mayChange && opener('change')}
          {may('POST /v1/webhook-subscriptions/{subscription_id}/rotate-secret') && opener('rotate')}
          {mayChange && isActive && opener('disable')}
          {mayChange && !isActive && (
            <Button
              small
              kind="primary"
              isPending={enable.isPending}
              onClick={() => enable.mutate(apiCall('PATCH', OF_SUBSCRIPTION, { path, body: { status: 'active' } }))}
            >
              {TEXT.enable}
            </Button>
          )}
          {may('DELETE /v1/webhook-subscriptions/{subscription_id}') && opener('end', true)}
        </>
      }
    >
      <div className={ui.stack}>
        <SubscriptionFacts subscription={subscription} />
        <div role="status">{test.data !== undefined && <Notice tone="good">{TEXT.testSent}</Notice>}</div>
        {test.error !== null && <Problem error={test.error} />}
        {enable.error !== null && <Problem error={enable.error} />}
      </div>
      {open !== null && <SubscriptionDialog open={open} subscription={subscription} onClose={() => setOpen(null)} />}
    </Section>
  );
}

function SubscriptionFacts({ subscription }: { subscription: Subscription }) {
  return (
    <Facts
      of={[
        [
          TEXT.status,
          <>
            <SubscriptionStatus of={subscription} />{' '}
            {subscription.disabled_at !== null && <Time at={subscription.disabled_at} />}
          </>,
        ],
        [TEXT.url, subscription.target_url],
        [
          TEXT.events,
          <span className={ui.row}>
            {subscription.event_types.map((type) => (
              <Badge key={type}>{type}</Badge>
            ))}
          </span>,
        ],
        [TEXT.made, <Time at={subscription.created_at} />],
        [TEXT.rotated, <Time at={subscription.secret_last_rotated_at} />],
        [TEXT.id, <Hash value={subscription.subscription_id} length={48} />],
      ]}
    />
  );
}

interface SubscriptionDialogProps {
  open: Open;
  subscription: Subscription;
  onClose: () => void;
}

function SubscriptionDialog({ open, ...props }: SubscriptionDialogProps) {
  const tenantId = useTenantId();
  const navigate = useNavigate();
  switch (open) {
    case 'change':
      return <ChangeSubscription {...props} />;
    case 'rotate':
      return <RotateSecret {...props} />;
    case 'disable':
      return <DisableSubscription {...props} />;
    case 'replay':
      return <Replay subscriptionId={props.subscription.subscription_id} onClose={props.onClose} />;
    case 'end':
      return (
        <EndSubscription
          {...props}
          onDone={() => void navigate({ to: '/t/$tenantId/webhooks', params: { tenantId } })}
        />
      );
  }
}
