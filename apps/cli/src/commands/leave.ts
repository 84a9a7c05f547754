import { type Command, hasFlag, textOf } from '../command';
import { asCaller, PROFILE_OPTION } from '../service/caller';

/** Ends the membership of the caller, or declines an invitation. */
export const leave: Command = {
  about: 'Leaving takes effect immediately. The last owner of a tenant cannot leave it.',
  arguments: [{ name: 'tenant', about: 'Its id, as iss whoami or iss invitations lists it.' }],
  options: {
    block: { about: 'Also keeps the tenant from adding you again, until iss unblock.' },
    ...PROFILE_OPTION,
  },
  async run(options, context) {
    const tenantId = textOf(options, 'tenant') ?? '';
    await asCaller(options, context, async ({ iss }) => {
      const { membership } = iss.tenant(tenantId);
      if (hasFlag(options, 'block')) await membership.block();
      else await membership.leave();
    });
    context.print(
      hasFlag(options, 'block') ? `You block ${tenantId}: iss unblock ${tenantId} lifts it.` : `You left ${tenantId}.`,
    );
  },
};
