import { useEffect } from 'react';
import { apiCall, useInvalidate, useWholeList } from '../../app/api.ts';
import { ChoiceFilter, keyIn, PeriodFilter, useFilters } from '../../forms/filters.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import { Badge } from '../../ui/page.tsx';
import type { Column } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { DeliveryPlots } from './delivery-plots.tsx';
import { DeliveryStatus, deliveryWord } from './status.tsx';
import { type Delivery, isSuccess, lastAttempt, OF_SUBSCRIPTION, subscriptionPath } from './webhooks.ts';
import { EVENT_TYPES, TEXT } from './words.ts';

/** The number of deliveries in the plots. */
const MOST = 400;
/** Deliveries are not in the change feed. While one is pending, they are loaded again when it is due. */
const AGAIN_MS = 2_000;
const LATEST_MS = 60_000;
const TYPES = [...EVENT_TYPES, 'webhook.test' as const];
const TYPE_WORDS = Object.fromEntries(TYPES.map((type) => [type, type]));

export function Deliveries({ subscriptionId }: { subscriptionId: string }) {
  const { search, push } = useFilters();
  const query = {
    status: keyIn(TEXT.statuses, search['status']),
    event_type: TYPES.find((type) => type === search['type']),
    from: search['from'] === undefined ? undefined : `${search['from']}T00:00:00Z`,
    to: search['to'] === undefined ? undefined : `${search['to']}T23:59:59.999Z`,
  };
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  const path = { subscription_id: subscriptionId };
  const call = apiCall('GET', `${OF_SUBSCRIPTION}/deliveries`, { path, query: { ...query, limit: 200 } });
  const list = useWholeList(call, MOST);
  useReloadWhenDue(subscriptionId, list.items, list.dataUpdatedAt);
  return (
    <ListSection
      title={TEXT.deliveries}
      filters={
        <>
          <ChoiceFilter name="status" label={TEXT.status} options={{ '': TEXT.any, ...TEXT.statuses }} />
          <ChoiceFilter name="type" label={TEXT.type} options={{ '': TEXT.any, ...TYPE_WORDS }} />
          <PeriodFilter from={TEXT.from} to={TEXT.to} />
        </>
      }
      plot={<DeliveryPlots deliveries={list.items} isWhole={list.isWhole} />}
      caption={TEXT.deliveriesCaption}
      list={list}
      keyOf={({ delivery_id: id }) => id}
      empty={isFiltered ? { title: TEXT.noneFits } : { title: TEXT.noDeliveries, text: TEXT.noDeliveriesText }}
      columns={COLUMNS}
      actionsTitle={TEXT.open}
      rowActions={[
        {
          label: TEXT.open,
          nameOf: ({ event_type: type }) => TEXT.openOf(type),
          run: ({ delivery_id: id }) => push({ delivery: id }),
        },
      ]}
    />
  );
}

/** Loads the deliveries again when the first pending one is due. */
function useReloadWhenDue(subscriptionId: string, items: readonly Delivery[], answeredAt: number): void {
  const invalidate = useInvalidate();
  // Null if no delivery is pending. A change restarts the timer.
  const dueAt = items.reduce<number | null>((first, { status, next_attempt_at: next }) => {
    if (status !== 'pending') return first;
    const at = next === null ? 0 : Date.parse(next);
    return first === null ? at : Math.min(first, at);
  }, null);
  useEffect(() => {
    if (dueAt === null) return;
    const delay = Math.min(LATEST_MS, Math.max(AGAIN_MS, dueAt - answeredAt));
    const timer = setTimeout(() => void invalidate(subscriptionPath(subscriptionId)), delay);
    return () => clearTimeout(timer);
  }, [dueAt, answeredAt, subscriptionId]);
}

const COLUMNS: readonly Column<Delivery>[] = [
  { title: TEXT.when, isHeader: true, at: ({ created_at: at }) => at },
  { title: TEXT.type, value: ({ event_type: type }) => type },
  { title: TEXT.status, value: deliveryWord, cell: (item) => <DeliveryStatus of={item} /> },
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
      return last !== undefined && <span className={ui.number}>{TEXT.ms(last.latency_ms)}</span>;
    },
  },
];

function LastAnswer({ of }: { of: Delivery }) {
  const last = lastAttempt(of);
  if (of.skipped_reason !== null) return TEXT.skipped[of.skipped_reason];
  if (last === undefined) return null;
  return (
    <>
      <Badge tone={isSuccess(last) ? 'good' : 'bad'}>{last.status_code ?? TEXT.noAnswer}</Badge>{' '}
      {last.error !== null && <span className={ui.quiet}>{last.error}</span>}
    </>
  );
}
