import { type Command, textOf } from '../command';
import { asCaller, PROFILE_OPTION } from '../service/caller';

export const unblock: Command = {
  arguments: [{ name: 'tenant', about: 'Tenant id, from iss invitations --blocked.' }],
  options: { ...PROFILE_OPTION },
  async run(options, context) {
    const tenantId = textOf(options, 'tenant') ?? '';
    await asCaller(options, context, ({ iss }) => iss.tenant(tenantId).membership.unblock());
    context.print(`${tenantId} can invite you again.`);
  },
};
