import { type Command, numberOf, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { HOOK_ARGUMENT, secretText } from '../service/hooks';

const MAX_GRACE_S = 31_536_000;

export const rotateHook: Command = {
  about: 'The old secret expires immediately, unless --grace is set.',
  arguments: [HOOK_ARGUMENT],
  options: {
    grace: { value: 'SECONDS', about: 'Seconds for which deliveries are signed with both secrets.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const grace = numberOf(options, 'grace', [0, MAX_GRACE_S]);
    await asCaller(options, context, async ({ tenant }) => {
      const rotation = grace === undefined ? {} : { grace_seconds: grace };
      const rotated = await tenant.webhooks.rotateSecret(textOf(options, 'hook') ?? '', rotation);
      showOne(options, context, rotated, ({ secret }) => secretText(secret));
    });
  },
};
