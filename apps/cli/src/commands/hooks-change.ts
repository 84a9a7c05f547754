import { type Command, hasFlag, textOf, UsageError } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { eventsText, eventTypesOf, HOOK_ARGUMENT, hookStatus } from '../service/hooks';
import { visible } from '../visible';

export const changeHook: Command = {
  arguments: [HOOK_ARGUMENT],
  options: {
    url: { value: 'URL', about: 'New URL of the receiver.' },
    events: { value: 'LIST', about: 'New events to send, as for iss hooks create.' },
    enable: { about: 'Resume deliveries, even if the service disabled the subscription.' },
    disable: { about: 'Stop deliveries.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const url = textOf(options, 'url');
    const events = textOf(options, 'events');
    const [isEnabled, isDisabled] = [hasFlag(options, 'enable'), hasFlag(options, 'disable')];
    if (isEnabled && isDisabled) throw new UsageError('--enable and --disable exclude each other. Remove one of them.');
    const change = {
      ...(url === undefined ? {} : { target_url: url }),
      ...(events === undefined ? {} : { event_types: eventTypesOf(events) }),
      ...(isEnabled ? { status: 'active' as const } : {}),
      ...(isDisabled ? { status: 'disabled' as const } : {}),
    };
    if (Object.keys(change).length === 0)
      throw new UsageError('No change is named. Add --url, --events, --enable or --disable.');
    await asCaller(options, context, async ({ tenant }) => {
      const changed = await tenant.webhooks.update(textOf(options, 'hook') ?? '', change);
      showOne(options, context, changed, (hook) =>
        visible(
          `${hook.subscription_id} sends ${eventsText(hook.event_types)} to ${hook.target_url}: ${hookStatus(hook)}`,
        ),
      );
    });
  },
};
