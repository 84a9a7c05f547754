import { useEffect, useState } from 'react';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { useAction, useGet, useInvalidate } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { useWholeList } from '../../app/whole-list.ts';
import { EVENTS, TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { FilterField } from '../../forms/filters.tsx';
import { Hash } from '../../ui/hash.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Answer, Badge, Empty, Notice } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { DeliveryPlots } from './delivery-plots.tsx';
import { Replay } from './replay.tsx';
import { ChangeSubscription, DisableSubscription, EndSubscription, RotateSecret } from './dialogs.tsx';
import { DeliveryStatus, deliveryWord, SubscriptionStatus } from './page.tsx';
import {
  type Delivery,
  isSuccess,
  lastAttempt,
  type Subscription,
  subscriptionPath,
  SUBSCRIPTIONS,
} from './webhooks.ts';
import styles from './styles.module.css';

const ROUTE = '/signed-in/t/$tenantId/webhooks/$subscriptionId';
const TO = '/t/$tenantId/webhooks/$subscriptionId';
/** The number of deliveries in the plots. */
const MOST = 400;
/** Deliveries are not in the change feed. While one is pending, they are loaded again when it is due. */
const AGAIN_MS = 2_000;
const LATEST_MS = 60_000;
const STATUSES = ['pending', 'succeeded', 'dead', 'skipped'] as const;
const TYPES = [...EVENTS.flatMap(([, types]) => types.map(([type]) => type)), 'webhook.test'];

type Open = 'change' | 'rotate' | 'disable' | 'end' | 'replay';

/** Shows a subscription, its health, its deliveries, and the actions on it. */
export function WebhookView() {
  const tenantId = useTenantId();
  const { subscriptionId } = useParams({ from: ROUTE });
  const { delivery } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: TO });
  const may = useMay(tenantId);
  const path = subscriptionPath(subscriptionId);
  const answer = useGet<{ webhook_subscription: Subscription }>(path);
  return (
    <Page
      title={TEXT.one}
      note={answer.data?.webhook_subscription.target_url}
      call={{ method: 'GET', path }}
      actions={
        <Link to="/t/$tenantId/webhooks" params={{ tenantId }}>
          {TEXT.back}
        </Link>
      }
    >
      <Answer query={answer}>
        {({ webhook_subscription: subscription }) => <Facts tenantId={tenantId} subscription={subscription} />}
      </Answer>
      <Deliveries subscriptionId={subscriptionId} />
      {delivery !== undefined && (
        <DeliveryDialog
          subscriptionId={subscriptionId}
          deliveryId={delivery}
          mayRedeliver={may('POST /v1/webhook-subscriptions/{subscription_id}/deliveries/{delivery_id}/redeliver')}
          onClose={() => void navigate({ search: (before) => ({ ...before, delivery: '' }), resetScroll: false })}
        />
      )}
    </Page>
  );
}

function Facts({ tenantId, subscription }: { tenantId: string; subscription: Subscription }) {
  const may = useMay(tenantId);
  const navigate = useNavigate();
  const path = subscriptionPath(subscription.subscription_id);
  const [open, setOpen] = useState<Open | null>(null);
  const test = useAction<api.Delivery>(path);
  const enable = useAction(SUBSCRIPTIONS);
  const close = (): void => setOpen(null);
  const isActive = subscription.status === 'active';
  const mayChange = may('PATCH /v1/webhook-subscriptions/{subscription_id}');
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
              onClick={() => test.mutate({ method: 'POST', path: `${path}/test` })}
            >
              {TEXT.test}
            </Button>
          )}
          {isActive && may('POST /v1/webhook-subscriptions/{subscription_id}/deliveries/replay') && (
            <Button small onClick={() => setOpen('replay')}>
              {TEXT.replay}
            </Button>
          )}
          {mayChange && (
            <Button small onClick={() => setOpen('change')}>
              {TEXT.change}
            </Button>
          )}
          {may('POST /v1/webhook-subscriptions/{subscription_id}/rotate-secret') && (
            <Button small onClick={() => setOpen('rotate')}>
              {TEXT.rotate}
            </Button>
          )}
          {mayChange && isActive && (
            <Button small onClick={() => setOpen('disable')}>
              {TEXT.disable}
            </Button>
          )}
          {mayChange && !isActive && (
            <Button
              small
              kind="primary"
              isPending={enable.isPending}
              onClick={() => enable.mutate({ method: 'PATCH', path, body: { status: 'active' } })}
            >
              {TEXT.enable}
            </Button>
          )}
          {may('DELETE /v1/webhook-subscriptions/{subscription_id}') && (
            <Button small kind="danger" onClick={() => setOpen('end')}>
              {TEXT.end}
            </Button>
          )}
        </>
      }
    >
      <div className={styles.stack}>
        <dl className={styles.facts}>
          <dt>{TEXT.status}</dt>
          <dd>
            <SubscriptionStatus of={subscription} />{' '}
            {subscription.disabled_at !== null && <Time at={subscription.disabled_at} />}
          </dd>
          <dt>{TEXT.url}</dt>
          <dd>{subscription.target_url}</dd>
          <dt>{TEXT.events}</dt>
          <dd className={styles.row}>
            {subscription.event_types.map((type) => (
              <Badge key={type}>{type}</Badge>
            ))}
          </dd>
          <dt>{TEXT.made}</dt>
          <dd>
            <Time at={subscription.created_at} />
          </dd>
          <dt>{TEXT.rotated}</dt>
          <dd>
            <Time at={subscription.secret_last_rotated_at} />
          </dd>
          <dt>{TEXT.id}</dt>
          <dd>
            <Hash value={subscription.subscription_id} length={48} />
          </dd>
        </dl>
        <div role="status">{test.data !== undefined && <Notice tone="good">{TEXT.testSent}</Notice>}</div>
        {test.error !== null && <Problem error={test.error} />}
        {enable.error !== null && <Problem error={enable.error} />}
      </div>
      {open === 'change' && <ChangeSubscription subscription={subscription} onClose={close} />}
      {open === 'rotate' && <RotateSecret subscription={subscription} onClose={close} />}
      {open === 'disable' && <DisableSubscription subscription={subscription} onClose={close} />}
      {open === 'replay' && <Replay subscriptionId={subscription.subscription_id} onClose={close} />}
      {open === 'end' && (
        <EndSubscription
          subscription={subscription}
          onClose={close}
          onEnded={() => void navigate({ to: '/t/$tenantId/webhooks', params: { tenantId } })}
        />
      )}
    </Section>
  );
}

function Deliveries({ subscriptionId }: { subscriptionId: string }) {
  const search = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: TO });
  const invalidate = useInvalidate();
  const path = `${subscriptionPath(subscriptionId)}/deliveries`;
  const query = {
    ...(search.status === undefined ? {} : { status: search.status }),
    ...(search.type === undefined ? {} : { event_type: search.type }),
    ...(search.from === undefined ? {} : { from: `${search.from}T00:00:00Z` }),
    ...(search.to === undefined ? {} : { to: `${search.to}T23:59:59.999Z` }),
  };
  const list = useWholeList<Delivery>(path, { ...query, limit: 200 }, MOST);
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  // Null if no delivery is pending. A change restarts the timer.
  const dueAt = list.items.reduce<number | null>((first, { status, next_attempt_at: next }) => {
    if (status !== 'pending') return first;
    const at = next === null ? 0 : Date.parse(next);
    return first === null ? at : Math.min(first, at);
  }, null);
  const answeredAt = list.dataUpdatedAt;
  useEffect(() => {
    if (dueAt === null) return;
    const delay = Math.min(LATEST_MS, Math.max(AGAIN_MS, dueAt - answeredAt));
    const timer = setTimeout(() => void invalidate(subscriptionPath(subscriptionId)), delay);
    return () => clearTimeout(timer);
  }, [dueAt, answeredAt, subscriptionId]);
  const isFiltered = Object.keys(query).length > 0;
  return (
    <Section title={TEXT.deliveries}>
      <div className={styles.stack}>
        <div className={ui.filters}>
          <Select
            label={TEXT.status}
            value={search.status ?? ''}
            options={[
              { value: '', label: TEXT.any },
              ...STATUSES.map((value) => ({ value, label: TEXT.statuses[value] })),
            ]}
            onChange={(event) => set({ status: event.target.value })}
          />
          <Select
            label={TEXT.type}
            value={search.type ?? ''}
            options={[{ value: '', label: TEXT.any }, ...TYPES.map((value) => ({ value, label: value }))]}
            onChange={(event) => set({ type: event.target.value })}
          />
          <FilterField type="date" label={TEXT.from} value={search.from} onChange={(from) => set({ from })} />
          <FilterField type="date" label={TEXT.to} value={search.to} onChange={(to) => set({ to })} />
        </div>
        <DeliveryPlots deliveries={list.items} isWhole={list.isWhole} />
        <ListTable
          caption={TEXT.deliveriesCaption}
          list={list}
          keyOf={({ delivery_id: id }) => id}
          empty={
            <Empty title={isFiltered ? TEXT.noneFits : TEXT.noDeliveries}>
              {!isFiltered && <p>{TEXT.noDeliveriesText}</p>}
            </Empty>
          }
          columns={[
            { title: TEXT.when, isHeader: true, at: ({ created_at: at }) => at },
            { title: TEXT.type, value: ({ event_type: type }) => type },
            {
              title: TEXT.status,
              value: (item) => deliveryWord(item),
              cell: (item) => <DeliveryStatus of={item} />,
            },
            { title: TEXT.attempts, value: ({ attempt_count: count }) => count },
            {
              title: TEXT.answer,
              value: (item) => lastAttempt(item)?.status_code,
              cell: (item) => <LastAnswer of={item} />,
            },
            {
              title: TEXT.latency,
              value: (item) => lastAttempt(item)?.latency_ms,
              cell: (item) => {
                const last = lastAttempt(item);
                return last !== undefined && <span className={styles.number}>{TEXT.ms(last.latency_ms)}</span>;
              },
            },
            {
              title: TEXT.open,
              cell: ({ delivery_id: id, event_type: type }) => (
                <Button
                  small
                  aria-label={TEXT.openOf(type)}
                  onClick={() =>
                    void navigate({ search: (before) => ({ ...before, delivery: id }), resetScroll: false })
                  }
                >
                  {TEXT.open}
                </Button>
              ),
            },
          ]}
        />
      </div>
    </Section>
  );
}

function LastAnswer({ of }: { of: Delivery }) {
  const last = lastAttempt(of);
  if (of.skipped_reason !== null) return TEXT.skipped[of.skipped_reason];
  if (last === undefined) return null;
  return (
    <>
      <Badge tone={isSuccess(last) ? 'good' : 'bad'}>{last.status_code ?? TEXT.noAnswer}</Badge>{' '}
      {last.error !== null && <span className={styles.quiet}>{last.error}</span>}
    </>
  );
}
