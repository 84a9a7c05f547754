import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';
import { grantText } from './share';

/** The pending grant that a command ends. */
export const PENDING_ARGUMENT = { name: 'grant', about: 'Its id, as iss pending lists it.' } as const;

/** Confirms a grant on all subjects, which makes it. */
export const confirmPending: Command = {
  about: 'By another human than the one who requested it.',
  arguments: [PENDING_ARGUMENT],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ tenant }) => {
      const made = await tenant.pendingGrants.confirm(textOf(options, 'grant') ?? '');
      showOne(options, context, made, (grant) => visible(grantText(grant)));
    });
  },
};
