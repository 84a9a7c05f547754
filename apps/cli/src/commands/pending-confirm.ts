import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';
import { grantText } from './share';

export const PENDING_ARGUMENT = { name: 'grant', about: 'Grant id, from iss pending.' } as const;

export const confirmPending: Command = {
  about: 'Another human than the requester must confirm it.',
  arguments: [PENDING_ARGUMENT],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ tenant }) => {
      const made = await tenant.pendingGrants.confirm(textOf(options, 'grant') ?? '');
      showOne(options, context, made, (grant) => visible(grantText(grant)));
    });
  },
};
