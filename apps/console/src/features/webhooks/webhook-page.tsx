import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useTenantId } from '../../app/address.ts';
import { apiCall, useAction, useGet } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { ConfirmButton } from '../../forms/confirm-button.tsx';
import { useFilters } from '../../forms/filters.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Button } from '../../ui/button.tsx';
import { Hash } from '../../ui/copy.tsx';
import { Loaded, Badge, Facts, Notice, Page, Problem, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { Deliveries } from './deliveries.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { ChangeSubscription, RotateSecret } from './dialogs.tsx';
import { ReplayDialog } from './replay.tsx';
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
      <Loaded query={answer}>
        {({ webhook_subscription: subscription }) => <About tenantId={tenantId} subscription={subscription} />}
      </Loaded>
      <Deliveries subscriptionId={subscriptionId} />
      {deliveryId !== undefined && (
        <DeliveryDialog
          subscriptionId={subscriptionId}
          deliveryId={deliveryId}
          mayRedeliver={may(`POST ${OF_SUBSCRIPTION}/deliveries/{delivery_id}/redeliver`)}
          onClose={() => push({ delivery: '' })}
        />
      )}
    </Page>
  );
}

function About({ tenantId, subscription }: { tenantId: string; subscription: Subscription }) {
  const test = useAction(subscriptionPath(subscription.subscription_id));
  const enable = useAction(SUBSCRIPTIONS);
  return (
    <Section
      title={TEXT.subscription}
      actions={<Actions tenantId={tenantId} subscription={subscription} test={test} enable={enable} />}
    >
      <div className={ui.stack}>
        <SubscriptionFacts subscription={subscription} />
        <div role="status">{test.data !== undefined && <Notice tone="good">{TEXT.testSent}</Notice>}</div>
        {test.error !== null && <Problem error={test.error} />}
        {enable.error !== null && <Problem error={enable.error} />}
      </div>
    </Section>
  );
}

interface ActionsProps {
  tenantId: string;
  subscription: Subscription;
  test: ReturnType<typeof useAction>;
  enable: ReturnType<typeof useAction>;
}

/** Offers what the role allows on an active or a disabled subscription. */
function Actions({ tenantId, subscription, test, enable }: ActionsProps) {
  const navigate = useNavigate();
  const may = useMay(tenantId);
  const { subscription_id, status, target_url: url } = subscription;
  const path = { subscription_id };
  const isActive = status === 'active';
  const mayChange = may(`PATCH ${OF_SUBSCRIPTION}`);
  return (
    <>
      {isActive && may(`POST ${OF_SUBSCRIPTION}/test`) && (
        <Button
          small
          kind="primary"
          isPending={test.isPending}
          onClick={() => test.mutate(apiCall('POST', `${OF_SUBSCRIPTION}/test`, { path }))}
        >
          {TEXT.test}
        </Button>
      )}
      {isActive && may(`POST ${OF_SUBSCRIPTION}/deliveries/replay`) && (
        <DialogButton small label={TEXT.replay}>
          {(close) => <ReplayDialog subscriptionId={subscription_id} onClose={close} />}
        </DialogButton>
      )}
      {mayChange && (
        <DialogButton small label={TEXT.change}>
          {(close) => <ChangeSubscription subscription={subscription} onClose={close} />}
        </DialogButton>
      )}
      {may(`POST ${OF_SUBSCRIPTION}/rotate-secret`) && (
        <DialogButton small label={TEXT.rotate}>
          {(close) => <RotateSecret subscription={subscription} onClose={close} />}
        </DialogButton>
      )}
      {mayChange && isActive && (
        <ConfirmButton
          label={TEXT.disable}
          {...TEXT.disabling}
          call={apiCall('PATCH', OF_SUBSCRIPTION, { path, body: { status: 'disabled' } })}
          changes={[SUBSCRIPTIONS]}
        />
      )}
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
      {may(`DELETE ${OF_SUBSCRIPTION}`) && (
        <ConfirmButton
          label={TEXT.end}
          kind="danger"
          {...TEXT.ending}
          text={TEXT.ending.text(url)}
          call={apiCall('DELETE', OF_SUBSCRIPTION, { path })}
          changes={[SUBSCRIPTIONS]}
          onDone={() => void navigate({ to: '/t/$tenantId/webhooks', params: { tenantId } })}
        />
      )}
    </>
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
        subscription.paths !== null && [TEXT.form.paths, subscription.paths.join(', ')],
        [TEXT.made, <Time at={subscription.created_at} />],
        [TEXT.rotated, <Time at={subscription.secret_last_rotated_at} />],
        [TEXT.id, <Hash value={subscription.subscription_id} length={48} />],
      ]}
    />
  );
}
