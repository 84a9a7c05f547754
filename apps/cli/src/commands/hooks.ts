import type { Command } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { eventsText, hookStatus } from '../service/hooks';
import { visible } from '../visible';

export const hooks: Command = {
  options: { ...LIST_OPTIONS, ...CALLER_OPTIONS },
  async run(options, context) {
    const style = styleOf(context.screen);
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, tenant.webhooks.list(), {
        none: 'There are no subscriptions. Create one: iss hooks create URL.',
        paint: { hook: style.yellow },
        asRow: (hook) => ({
          hook: hook.subscription_id,
          status: hookStatus(hook),
          target: visible(hook.target_url),
          events: eventsText(hook.event_types),
        }),
      }),
    );
  },
};
