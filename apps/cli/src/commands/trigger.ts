import { setTimeout as pause } from 'node:timers/promises';
import type { api, Tenant } from '@identity-state/client';
import { type Command, Failure, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { attemptText, HOOK_ARGUMENT } from '../service/hooks';
import { visible } from '../visible';

const LOOKS = 60;
const PAUSE_MS = 500;
const FIRST_PAUSE_MS = 100;

export const trigger: Command = {
  about: 'It waits for the first attempt. If that attempt fails, the exit code is 1.',
  arguments: [HOOK_ARGUMENT],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    const hook = textOf(options, 'hook') ?? '';
    await asCaller(options, context, async ({ tenant }) => {
      const delivery = await attempted(tenant, hook, (await tenant.webhooks.test(hook)).delivery_id);
      const [first] = delivery.attempts;
      if (first === undefined)
        throw new Failure(
          visible(
            `webhook.test ${delivery.event_id} is ${delivery.status} without an attempt yet. See iss deliveries ${hook}.`,
          ),
        );
      if (first.error_phase !== null) {
        throw new Failure(
          visible(
            `webhook.test ${delivery.event_id} failed (${attemptText(first)}). The service will retry. See iss deliveries ${hook}.`,
          ),
        );
      }
      showOne(options, context, delivery, ({ event_id: id }) => visible(`webhook.test ${id}: ${attemptText(first)}`));
    });
  },
};

/** Waits for the first attempt, for a limited time, and returns the delivery. */
async function attempted(tenant: Tenant, hook: string, deliveryId: string): Promise<api.DeliveryWithPayload> {
  for (let look = 1; ; look++) {
    await pause(look === 1 ? FIRST_PAUSE_MS : PAUSE_MS);
    const delivery = await tenant.webhooks.delivery(hook, deliveryId);
    if (delivery.attempts.length > 0 || delivery.status !== 'pending' || look === LOOKS) return delivery;
  }
}
