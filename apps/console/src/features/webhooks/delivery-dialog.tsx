import { apiCall, useAction, useGet } from '../../app/api.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl, Hash } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Answer, Badge, Facts, Problem } from '../../ui/page.tsx';
import { Table } from '../../ui/table/table.tsx';
import { Json } from '../../ui/text/json.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { DeliveryStatus } from './status.tsx';
import { isSuccess, OF_SUBSCRIPTION, subscriptionPath } from './webhooks.ts';
import { TEXT } from './words.ts';

const OF_DELIVERY = `${OF_SUBSCRIPTION}/deliveries/{delivery_id}` as const;

interface DeliveryDialogProps {
  subscriptionId: string;
  deliveryId: string;
  mayRedeliver: boolean;
  onClose: () => void;
}

/** Shows a delivery with its payload and attempts, and can send it again. */
export function DeliveryDialog({ subscriptionId, deliveryId, mayRedeliver, onClose }: DeliveryDialogProps) {
  const words = TEXT.delivery;
  const path = { subscription_id: subscriptionId, delivery_id: deliveryId };
  const call = apiCall('GET', OF_DELIVERY, { path });
  const delivery = useGet(call);
  const action = useAction(subscriptionPath(subscriptionId));
  const isFinished = delivery.data !== undefined && delivery.data.status !== 'pending';
  return (
    <Dialog title={words.title} onClose={onClose}>
      <div className={ui.stack}>
        <Answer query={delivery}>
          {(data) => (
            <>
              <Facts
                of={[
                  [
                    TEXT.type,
                    <>
                      <code>{data.event_type}</code> <Hash value={data.event_id} length={16} />
                    </>,
                  ],
                  [
                    TEXT.status,
                    <>
                      <DeliveryStatus of={data} /> {data.skipped_reason !== null && TEXT.skipped[data.skipped_reason]}
                    </>,
                  ],
                  [TEXT.made, <Time at={data.created_at} />],
                  data.next_attempt_at !== null && [words.next, <Time at={data.next_attempt_at} />],
                  data.request_id !== null && [words.request, <Hash value={data.request_id} length={36} />],
                ]}
              />
              <h3>{words.attempts}</h3>
              {data.attempts.length === 0 ? (
                <p className={ui.quiet}>{words.none}</p>
              ) : (
                <Table
                  caption={words.attempts}
                  items={data.attempts}
                  keyOf={({ attempt }) => String(attempt)}
                  columns={[
                    { title: words.attempt, isHeader: true, value: ({ attempt }) => attempt },
                    { title: words.started, at: ({ started_at: at }) => at },
                    {
                      title: words.status,
                      value: ({ status_code: code }) => code,
                      cell: (attempt) => (
                        <Badge tone={isSuccess(attempt) ? 'good' : 'bad'}>{attempt.status_code ?? TEXT.noAnswer}</Badge>
                      ),
                    },
                    {
                      title: TEXT.latency,
                      value: ({ latency_ms: ms }) => ms,
                      cell: ({ latency_ms: ms }) => TEXT.ms(ms),
                    },
                    {
                      title: words.failure,
                      value: ({ error }) => error,
                      cell: ({ error, error_phase: phase }) => (
                        <>
                          {error} {phase !== null && <span className={ui.quiet}>{words.phase(phase)}</span>}
                        </>
                      ),
                    },
                  ]}
                />
              )}
              <p className={ui.quiet}>{words.bodyNote}</p>
              <h3>{words.payload}</h3>
              <Json label={words.payload} value={data.payload} />
            </>
          )}
        </Answer>
        {action.error !== null && <Problem error={action.error} />}
      </div>
      <div className={ui.dialogFoot}>
        <CopyCurl call={call} />
        {mayRedeliver && isFinished && (
          <Button
            isPending={action.isPending}
            onClick={() => action.mutate(apiCall('POST', `${OF_DELIVERY}/redeliver`, { path }))}
          >
            {words.redeliver}
          </Button>
        )}
        <Button kind="primary" onClick={onClose}>
          {words.close}
        </Button>
      </div>
    </Dialog>
  );
}
