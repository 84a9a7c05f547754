import type { api } from '@identity-state/client';
import { apiCall, useAction, useGet } from '../../app/api.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl, Hash } from '../../ui/copy.tsx';
import { ShownDialog } from '../../ui/dialog.tsx';
import { Loaded, Badge, Facts, Problem } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { Json } from '../../ui/text/json.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { DeliveryStatus } from './status.tsx';
import { type Attempt, isSuccess, OF_SUBSCRIPTION, subscriptionPath } from './webhooks.ts';
import { TEXT } from './words.ts';

const OF_DELIVERY = `${OF_SUBSCRIPTION}/deliveries/{delivery_id}` as const;

const WORDS = TEXT.delivery;

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: WORDS.attempt, isHeader: true, value: ({ attempt }) => attempt },
  { title: WORDS.started, at: ({ started_at: at }) => at },
  {
    title: WORDS.status,
    value: ({ status_code: code }) => code,
    cell: (attempt) => <Badge tone={isSuccess(attempt) ? 'good' : 'bad'}>{attempt.status_code ?? TEXT.noAnswer}</Badge>,
  },
  { title: TEXT.latency, value: ({ latency_ms: ms }) => ms, cell: ({ latency_ms: ms }) => TEXT.ms(ms) },
  {
    title: WORDS.failure,
    value: ({ error }) => error,
    cell: ({ error, error_phase: phase }) => (
      <>
        {error} {phase !== null && <span className={ui.quiet}>{WORDS.phase(phase)}</span>}
      </>
    ),
  },
];

interface DeliveryDialogProps {
  subscriptionId: string;
  deliveryId: string;
  mayRedeliver: boolean;
  onClose: () => void;
}

/** Shows a delivery with its payload and attempts, and can send it again. */
export function DeliveryDialog({ subscriptionId, deliveryId, mayRedeliver, onClose }: DeliveryDialogProps) {
  const path = { subscription_id: subscriptionId, delivery_id: deliveryId };
  const call = apiCall('GET', OF_DELIVERY, { path });
  const delivery = useGet(call);
  const action = useAction(subscriptionPath(subscriptionId));
  const isFinished = delivery.data !== undefined && delivery.data.status !== 'pending';
  return (
    <ShownDialog
      title={WORDS.title}
      buttons={
        <>
          <CopyCurl call={call} />
          {mayRedeliver && isFinished && (
            <Button
              isPending={action.isPending}
              onClick={() => action.mutate(apiCall('POST', `${OF_DELIVERY}/redeliver`, { path }))}
            >
              {WORDS.redeliver}
            </Button>
          )}
        </>
      }
      close={WORDS.close}
      onClose={onClose}
    >
      <Loaded query={delivery}>{(data) => <DeliveryContent delivery={data} />}</Loaded>
      {action.error !== null && <Problem error={action.error} />}
    </ShownDialog>
  );
}

function DeliveryContent({ delivery }: { delivery: api.DeliveryWithPayload }) {
  const { event_type: type, event_id: event, skipped_reason: skipped, attempts } = delivery;
  const { created_at: made, next_attempt_at: next, request_id: request } = delivery;
  return (
    <>
      <Facts
        of={[
          [
            TEXT.type,
            <>
              <code>{type}</code> <Hash value={event} length={16} />
            </>,
          ],
          [
            TEXT.status,
            <>
              <DeliveryStatus of={delivery} /> {skipped !== null && TEXT.skipped[skipped]}
            </>,
          ],
          [TEXT.made, <Time at={made} />],
          next !== null && [WORDS.next, <Time at={next} />],
          request !== null && [WORDS.request, <Hash value={request} length={36} />],
        ]}
      />
      <h3>{WORDS.attempts}</h3>
      {attempts.length === 0 ? (
        <p className={ui.quiet}>{WORDS.none}</p>
      ) : (
        <Table
          caption={WORDS.attempts}
          items={attempts}
          keyOf={({ attempt }) => String(attempt)}
          columns={ATTEMPT_COLUMNS}
        />
      )}
      <p className={ui.quiet}>{WORDS.bodyNote}</p>
      <h3>{WORDS.payload}</h3>
      <Json label={WORDS.payload} value={delivery.payload} />
    </>
  );
}
