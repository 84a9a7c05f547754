import { type Command, hasFlag, textOf } from '../command';
import { asCaller, PROFILE_OPTION } from '../service/caller';

export const leave: Command = {
  about: 'It takes effect immediately. The last owner of a tenant cannot leave.',
  arguments: [{ name: 'tenant', about: 'Tenant id, from iss whoami or iss invitations.' }],
  options: {
    block: { about: 'Prevent the tenant from adding you again, until iss unblock.' },
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
      hasFlag(options, 'block')
        ? `You block ${tenantId}. To allow invitations again: iss unblock ${tenantId}`
        : `You left ${tenantId}.`,
    );
  },
};
