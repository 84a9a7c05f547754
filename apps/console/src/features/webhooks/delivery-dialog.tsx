import type { api } from '@identity-state/client';
import { useAction, useGet } from '../../app/api.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Hash } from '../../ui/hash.tsx';
import { Json } from '../../ui/text/json.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Answer, Badge } from '../../ui/state.tsx';
import { Table } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { DeliveryStatus } from './page.tsx';
import { isSuccess, subscriptionPath } from './webhooks.ts';
import styles from './styles.module.css';

/** Shows a delivery with its payload and attempts, and can send it again. */
export function DeliveryDialog({
  subscriptionId,
  deliveryId,
  mayRedeliver,
  onClose,
}: {
  subscriptionId: string;
  deliveryId: string;
  mayRedeliver: boolean;
  onClose: () => void;
}) {
  const words = TEXT.delivery;
  const path = `${subscriptionPath(subscriptionId)}/deliveries/${encodeURIComponent(deliveryId)}`;
  const delivery = useGet<api.DeliveryWithPayload>(path);
  const action = useAction(subscriptionPath(subscriptionId));
  const isFinished = delivery.data !== undefined && delivery.data.status !== 'pending';
  return (
    <Dialog title={words.title} isOpen onClose={onClose}>
      <div className={styles.stack}>
        <Answer query={delivery}>
          {(data) => (
            <>
              <dl className={styles.facts}>
                <dt>{TEXT.type}</dt>
                <dd>
                  <code>{data.event_type}</code> <Hash value={data.event_id} length={16} />
                </dd>
                <dt>{TEXT.status}</dt>
                <dd>
                  <DeliveryStatus of={data} /> {data.skipped_reason !== null && TEXT.skipped[data.skipped_reason]}
                </dd>
                <dt>{TEXT.made}</dt>
                <dd>
                  <Time at={data.created_at} />
                </dd>
                {data.next_attempt_at !== null && (
                  <>
                    <dt>{words.next}</dt>
                    <dd>
                      <Time at={data.next_attempt_at} />
                    </dd>
                  </>
                )}
                {data.request_id !== null && (
                  <>
                    <dt>{words.request}</dt>
                    <dd>
                      <Hash value={data.request_id} length={36} />
                    </dd>
                  </>
                )}
              </dl>
              <h3>{words.attempts}</h3>
              {data.attempts.length === 0 ? (
                <p className={styles.quiet}>{words.none}</p>
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
                          {error} {phase !== null && <span className={styles.quiet}>{words.phase(phase)}</span>}
                        </>
                      ),
                    },
                  ]}
                />
              )}
              <p className={styles.quiet}>{words.bodyNote}</p>
              <h3>{words.payload}</h3>
              <Json label={words.payload} value={data.payload} />
            </>
          )}
        </Answer>
        {action.error !== null && <Problem error={action.error} />}
      </div>
      <div className={ui.dialogFoot}>
        <CopyCurl call={{ method: 'GET', path }} />
        {mayRedeliver && isFinished && (
          <Button
            isPending={action.isPending}
            onClick={() => action.mutate({ method: 'POST', path: `${path}/redeliver` })}
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
