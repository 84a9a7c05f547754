import { EVENT_TYPES } from '@iss/domain';
import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { eventsText, eventTypesOf, secretText } from '../service/hooks';
import { visible } from '../visible';

export const createHook: Command = {
  about: 'The signing secret is shown only once.',
  arguments: [{ name: 'url', about: 'URL of the receiver: https and public, unless the deployment allows others.' }],
  options: {
    events: { value: 'LIST', about: `Comma-separated list of ${EVENT_TYPES.join(', ')} (default: all).` },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const types = eventTypesOf(textOf(options, 'events') ?? 'all');
    await asCaller(options, context, async ({ tenant }) => {
      const created = await tenant.webhooks.create({ target_url: textOf(options, 'url') ?? '', event_types: types });
      showOne(options, context, created, ({ webhook_subscription: hook, secret }) =>
        [
          visible(`${hook.subscription_id} sends ${eventsText(hook.event_types)} to ${hook.target_url}`),
          secretText(secret),
        ].join('\n'),
      );
    });
  },
};
