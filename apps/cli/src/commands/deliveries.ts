import type { api } from '@identity-state/client';
import { type Command, textOf, UsageError } from '../command';
import { LIST_OPTIONS, showList, showOne, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { attemptText, HOOK_ARGUMENT } from '../service/hooks';
import { momentOf } from '../service/moments';
import { visible } from '../visible';

const STATUSES: readonly api.Delivery['status'][] = ['pending', 'succeeded', 'dead', 'skipped'];

export const deliveries: Command = {
  about: 'Newest first. With DELIVERY, it shows all attempts and the payload of one delivery.',
  arguments: [HOOK_ARGUMENT, { name: 'delivery', about: 'Delivery id.', isOptional: true }],
  options: {
    status: { value: 'STATUS', about: `${STATUSES.join(', ')}.`, choices: STATUSES },
    type: { value: 'TYPE', about: 'Event type.' },
    from: { value: 'TIME', about: 'Created then or later.' },
    to: { value: 'TIME', about: 'Created then or earlier.' },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const hook = textOf(options, 'hook') ?? '';
    const named = textOf(options, 'delivery');
    const filter = filterOf(
      textOf(options, 'status'),
      textOf(options, 'type'),
      textOf(options, 'from'),
      textOf(options, 'to'),
    );
    const style = styleOf(context.screen);
    await asCaller(options, context, async ({ tenant }) => {
      if (named !== undefined) {
        return showOne(options, context, await tenant.webhooks.delivery(hook, named), asText);
      }
      await showList(options, context, tenant.webhooks.deliveries(hook, filter), {
        none: 'There are no deliveries.',
        paint: { delivery: style.yellow },
        asRow: (delivery) => ({
          delivery: delivery.delivery_id,
          at: delivery.created_at,
          event: visible(delivery.event_type),
          status: statusText(delivery),
          attempts: String(delivery.attempt_count),
          last: attemptText(delivery.attempts.at(-1)),
        }),
      });
    });
  },
};

function filterOf(status?: string, type?: string, from?: string, to?: string) {
  return {
    ...(status === undefined ? {} : { status: deliveryStatusOf(status) }),
    ...(type === undefined ? {} : { event_type: type }),
    ...(from === undefined ? {} : { from: momentOf('from', from) }),
    ...(to === undefined ? {} : { to: momentOf('to', to) }),
  };
}

function deliveryStatusOf(text: string): api.Delivery['status'] {
  const status = STATUSES.find((one) => one === text);
  if (status === undefined) throw new UsageError(`--status takes one of ${STATUSES.join(', ')}.`);
  return status;
}

function statusText({ status, skipped_reason: reason, next_attempt_at: next }: api.Delivery): string {
  if (reason !== null) return `${status} (${reason})`;
  return next === null ? status : `${status}, next at ${next}`;
}

function asText(delivery: api.DeliveryWithPayload): string {
  return [
    visible(`${delivery.event_type} ${delivery.event_id}: ${statusText(delivery)}`),
    ...delivery.attempts.map((attempt) =>
      visible(`  attempt ${attempt.attempt} at ${attempt.started_at}: ${attemptText(attempt)}`),
    ),
    visible(JSON.stringify(delivery.payload)),
  ].join('\n');
}
