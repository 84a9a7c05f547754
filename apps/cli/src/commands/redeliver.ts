import type { api, Tenant } from '@identity-state/client';
import { type Command, type Options, textOf, UsageError } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { HOOK_ARGUMENT } from '../service/hooks';
import { momentOf } from '../service/moments';
import { visible } from '../visible';

const STATUSES = ['succeeded', 'dead', 'skipped'] as const;

export const redeliver: Command = {
  about: 'Name one delivery, or a period with --from. The event id stays the same, and a full retry schedule starts.',
  usage: 'HOOK (DELIVERY | --from TIME [--to TIME] [--status STATUS])',
  arguments: [HOOK_ARGUMENT, { name: 'delivery', about: 'Delivery id, from iss deliveries.', isOptional: true }],
  options: {
    from: { value: 'TIME', about: 'Created then or later.' },
    to: { value: 'TIME', about: 'Created then or earlier.' },
    status: {
      value: 'STATUS',
      about: `${STATUSES.join(', ')} (default: dead and skipped).`,
      choices: STATUSES,
    },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const hook = textOf(options, 'hook') ?? '';
    const delivery = textOf(options, 'delivery');
    const period = periodOf(options);
    if ((delivery === undefined) === (period === null))
      throw new UsageError('Name either DELIVERY or a period with --from TIME.');
    await asCaller(options, context, async ({ tenant }) => {
      if (period === null) {
        const again = await tenant.webhooks.redeliver(hook, delivery ?? '');
        return showOne(options, context, again, ({ event_type: type, event_id: id }) =>
          visible(`Resending ${type} ${id}`),
        );
      }
      const count = await replayed(tenant, hook, period);
      showOne(options, context, { count }, () => `Deliveries to resend: ${count}`);
    });
  },
};

function periodOf(options: Options): api.ReplayBody | null {
  const [from, to, named] = [textOf(options, 'from'), textOf(options, 'to'), textOf(options, 'status')];
  if (from === undefined) {
    if (to !== undefined || named !== undefined)
      throw new UsageError('--to and --status need a period. Add --from TIME.');
    return null;
  }
  const status = STATUSES.find((one) => one === named);
  if (named !== undefined && status === undefined)
    throw new UsageError(`--status takes one of ${STATUSES.join(', ')}.`);
  return {
    from: momentOf('from', from),
    ...(to === undefined ? {} : { to: momentOf('to', to) }),
    ...(status === undefined ? {} : { status }),
  };
}

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
