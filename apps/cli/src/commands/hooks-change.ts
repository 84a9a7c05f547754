import { type Command, hasFlag, textOf, UsageError } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { EVENTS_ABOUT, eventsText, eventTypesOf, HOOK_ARGUMENT, hookStatus } from '../service/hooks';
import { visible } from '../visible';

/** Changes a webhook subscription. */
export const changeHook: Command = {
  usage: 'HOOK [--url URL] [--events LIST] [--enable | --disable] [--tenant ID] [--profile NAME] [--json]',
  arguments: [HOOK_ARGUMENT],
  options: {
    url: { value: 'URL', about: 'Where the events go from now on.' },
    events: { value: 'LIST', about: `What is sent from now on: ${EVENTS_ABOUT}` },
    enable: { about: 'It gets events again, also where the service disabled it.' },
    disable: { about: 'It gets no events.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const url = textOf(options, 'url');
    const events = textOf(options, 'events');
    const [isEnabled, isDisabled] = [hasFlag(options, 'enable'), hasFlag(options, 'disable')];
    if (isEnabled && isDisabled) throw new UsageError('Name one: --enable or --disable.');
    const change = {
      ...(url === undefined ? {} : { target_url: url }),
      ...(events === undefined ? {} : { event_types: eventTypesOf(events) }),
      ...(isEnabled ? { status: 'active' as const } : {}),
      ...(isDisabled ? { status: 'disabled' as const } : {}),
    };
    if (Object.keys(change).length === 0)
      throw new UsageError('What is to change? Name --url, --events, --enable or --disable.');
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
