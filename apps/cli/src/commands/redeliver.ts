import type { api, Tenant } from '@identity-state/client';
import { type Command, type Options, textOf, UsageError } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { HOOK_ARGUMENT } from '../service/hooks';
import { momentOf } from '../service/moments';
import { visible } from '../visible';

const STATUSES = ['succeeded', 'dead', 'skipped'] as const;

/** Sends deliveries again. */
export const redeliver: Command = {
  about:
    'One delivery, or with --from every one of a period that is dead or was skipped. What is sent again has the id of the first time, ' +
    'and a whole schedule of attempts.',
  usage: 'HOOK (DELIVERY | --from T [--to T] [--status STATUS]) [--tenant ID] [--profile NAME] [--json]',
  arguments: [
    HOOK_ARGUMENT,
    { name: 'delivery', about: 'One delivery, as iss deliveries lists it.', isOptional: true },
  ],
  options: {
    from: { value: 'T', about: 'What was made at this moment, or later.' },
    to: { value: 'T', about: 'What was made at this moment, or earlier.' },
    status: {
      value: 'STATUS',
      about: `One of ${STATUSES.join(', ')}: dead and skipped, where it is left out.`,
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
      throw new UsageError('Name one: DELIVERY, or the period --from T.');
    await asCaller(options, context, async ({ tenant }) => {
      if (period === null) {
        const again = await tenant.webhooks.redeliver(hook, delivery ?? '');
        return showOne(options, context, again, ({ event_type: type, event_id: id }) =>
          visible(`${type} ${id} is sent again`),
        );
      }
      const count = await replayed(tenant, hook, period);
      showOne(options, context, { count }, () => `${count} deliveries are sent again`);
    });
  },
};

function periodOf(options: Options): api.ReplayBody | null {
  const [from, to, named] = [textOf(options, 'from'), textOf(options, 'to'), textOf(options, 'status')];
  if (from === undefined) {
    if (to !== undefined || named !== undefined)
      throw new UsageError('--to and --status are of a period: name --from T.');
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

/** A call takes so many; the next one goes on behind them. */
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
