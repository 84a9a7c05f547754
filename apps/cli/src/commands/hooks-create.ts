import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { EVENTS_ABOUT, eventsText, eventTypesOf, secretText } from '../service/hooks';
import { visible } from '../visible';

/** Makes a webhook subscription. */
export const createHook: Command = {
  about: 'The secret that deliveries are signed with is shown this once.',
  arguments: [
    { name: 'url', about: 'The receiver: https, at a public address, unless the deployment lets others be.' },
  ],
  options: {
    events: { value: 'LIST', about: `What is sent, all unless said otherwise: ${EVENTS_ABOUT}` },
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
