import { apiCall, useGet } from '../../app/api.ts';
import { Badge } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { type Delivery, DELIVERY_TONES, isRetried, OF_SUBSCRIPTION, type Subscription } from './webhooks.ts';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

const NEWEST = 30;

const deliveriesOf = (id: string, query: { limit: number; status?: Delivery['status'] }) =>
  apiCall('GET', `${OF_SUBSCRIPTION}/deliveries`, { path: { subscription_id: id }, query });

export function SubscriptionStatus({ of }: { of: Subscription }) {
  const { subscription_id: id, status, disabled_reason: reason } = of;
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
export function Health({ id }: { id: string }) {
  const { data, error } = useGet(deliveriesOf(id, { limit: NEWEST }));
  if (error !== null) return <span className={ui.quiet}>{error.message}</span>;
  if (data === undefined) return null;
  const { items } = data;
  if (items.length === 0) return <span className={ui.quiet}>{TEXT.nothingSent}</span>;
  const count = (wanted: Delivery['status']): number => items.filter(({ status }) => status === wanted).length;
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
  const { data } = useGet(id === null ? null : deliveriesOf(id, { limit: 1, status: 'succeeded' }));
  return data?.items[0]?.finished_at ?? null;
}

export function LastSuccess({ id }: { id: string }) {
  const at = useLastSuccess(id);
  return at === null ? <span className={ui.quiet}>{TEXT.never}</span> : <Time at={at} />;
}

export function deliveryWord(of: Delivery): string {
  return isRetried(of) ? TEXT.retried : TEXT.statuses[of.status];
}

export function DeliveryStatus({ of }: { of: Delivery }) {
  return <Badge tone={isRetried(of) ? 'warn' : DELIVERY_TONES[of.status]}>{deliveryWord(of)}</Badge>;
}
