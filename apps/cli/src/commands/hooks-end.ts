import { type Command, textOf } from '../command';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { HOOK_ARGUMENT } from '../service/hooks';
import { visible } from '../visible';

export const endHook: Command = {
  about: 'Its past deliveries stay available in iss deliveries for a while.',
  arguments: [HOOK_ARGUMENT],
  options: CALLER_OPTIONS,
  async run(options, context) {
    const hook = textOf(options, 'hook') ?? '';
    await asCaller(options, context, async ({ tenant }) => {
      await tenant.webhooks.delete(hook);
      context.print(`${visible(hook)} is deleted`);
    });
  },
};
