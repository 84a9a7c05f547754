import { setTimeout as pause } from 'node:timers/promises';
import type { api, Tenant } from '@identity-state/client';
import { Failure, UsageError } from '../command';
import { showOne } from '../output';
import { defineCall, defineList, listing } from '../service/define';
import { attemptText, HOOK } from '../service/hooks';
import { momentOf } from '../service/moments';
import { visible } from '../visible';

const STATUSES = ['pending', 'succeeded', 'dead', 'skipped'] as const satisfies readonly api.Delivery['status'][];
const REPLAYED_STATUSES = ['succeeded', 'dead', 'skipped'] as const;

const PERIOD = {
  from: { value: 'TIME', about: 'Created then or later.', read: momentOf },
  to: { value: 'TIME', about: 'Created then or earlier.', read: momentOf },
} as const;

const LOOKS = 60;
const PAUSE_MS = 500;
const FIRST_PAUSE_MS = 100;

export const deliveries = defineList({
  about: 'Newest first. With DELIVERY, it shows all attempts and the payload of one delivery.',
  arguments: { hook: HOOK, delivery: { about: 'Delivery id.', isOptional: true } },
  options: {
    status: { value: 'STATUS', about: `${STATUSES.join(', ')}.`, choices: STATUSES },
    type: { value: 'TYPE', about: 'Event type.' },
    ...PERIOD,
  },
  list({ hook, delivery, status, type, from, to }) {
    if (delivery !== undefined) {
      return async ({ tenant }, options, context) =>
        showOne(options, context, await tenant.webhooks.delivery(hook, delivery), deliveryText);
    }
    const filter = {
      ...(status === undefined ? {} : { status }),
      ...(type === undefined ? {} : { event_type: type }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    };
    return listing({
      items: ({ tenant }) => tenant.webhooks.deliveries(hook, filter),
      none: 'There are no deliveries.',
      paint: { delivery: 'yellow' },
      columns: (one) => ({
        delivery: one.delivery_id,
        at: one.created_at,
        event: one.event_type,
        status: statusText(one),
        attempts: one.attempt_count,
        last: attemptText(one.attempts.at(-1)),
      }),
    });
  },
});

function statusText({ status, skipped_reason: reason, next_attempt_at: next }: api.Delivery): string {
  if (reason !== null) return `${status} (${reason})`;
  return next === null ? status : `${status}, next at ${next}`;
}

function deliveryText(delivery: api.DeliveryWithPayload): string {
  return [
    `${delivery.event_type} ${delivery.event_id}: ${statusText(delivery)}`,
    ...delivery.attempts.map((one) => `  attempt ${one.attempt} at ${one.started_at}: ${attemptText(one)}`),
    JSON.stringify(delivery.payload),
  ]
    .map(visible)
    .join('\n');
}

export const redeliver = defineCall({
  about: 'Name one delivery, or a period with --from. The event id stays the same, and a full retry schedule starts.',
  usage: 'HOOK (DELIVERY | --from TIME [--to TIME] [--status STATUS])',
  arguments: { hook: HOOK, delivery: { about: 'Delivery id, from iss deliveries.', isOptional: true } },
  options: {
    ...PERIOD,
    status: {
      value: 'STATUS',
      about: `${REPLAYED_STATUSES.join(', ')} (default: dead and skipped).`,
      choices: REPLAYED_STATUSES,
    },
  },
  check({ delivery, from, to, status }) {
    if (from === undefined && (to !== undefined || status !== undefined))
      throw new UsageError('--to and --status need a period. Add --from TIME.');
    if ((delivery === undefined) === (from === undefined))
      throw new UsageError('Name either DELIVERY or a period with --from TIME.');
  },
  call: async ({ tenant }, { hook, delivery, from, to, status }): Promise<api.Delivery | { count: number }> => {
    if (delivery !== undefined) return tenant.webhooks.redeliver(hook, delivery);
    const rest = { ...(to === undefined ? {} : { to }), ...(status === undefined ? {} : { status }) };
    return { count: await replayed(tenant, hook, { from: from ?? '', ...rest }) };
  },
  text: (answer) =>
    'count' in answer ? `Deliveries to resend: ${answer.count}` : `Resending ${answer.event_type} ${answer.event_id}`,
});

/** Replays the period in several calls, because each call is limited. Returns the number of deliveries. */
async function replayed(tenant: Tenant, hook: string, period: api.ReplayBody): Promise<number> {
  let count = 0;
  for (let from: string | null = period.from; from !== null;) {
    const part: Awaited<ReturnType<Tenant['webhooks']['replay']>> = await tenant.webhooks.replay(hook, {
      ...period,
      from,
    });
    count += part.count;
    from = part.has_more ? part.next_from : null;
  }
  return count;
}

export const trigger = defineCall({
  about: 'It waits for the first attempt. If that attempt fails, the exit code is 1.',
  arguments: { hook: HOOK },
  async call({ tenant }, { hook }) {
    const delivery = await attempted(tenant, hook, (await tenant.webhooks.test(hook)).delivery_id);
    const [first] = delivery.attempts;
    const name = `webhook.test ${delivery.event_id}`;
    if (first === undefined)
      throw new Failure(visible(`${name} is ${delivery.status} without an attempt yet. See iss deliveries ${hook}.`));
    if (first.error_phase === null) return delivery;
    const problem = `${name} failed (${attemptText(first)}).`;
    throw new Failure(visible(`${problem} The service will retry. See iss deliveries ${hook}.`));
  },
  text: ({ event_id: id, attempts: [first] }) => `webhook.test ${id}: ${attemptText(first)}`,
});

/** Waits for the first attempt, for a limited time, and returns the delivery. */
async function attempted(tenant: Tenant, hook: string, deliveryId: string): Promise<api.DeliveryWithPayload> {
  for (let look = 1; ; look++) {
    await pause(look === 1 ? FIRST_PAUSE_MS : PAUSE_MS);
    const delivery = await tenant.webhooks.delivery(hook, deliveryId);
    if (delivery.attempts.length > 0 || delivery.status !== 'pending' || look === LOOKS) return delivery;
  }
}
