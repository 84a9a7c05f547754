import { type Command, textOf } from '../command';
import { asCaller, PROFILE_OPTION } from '../service/caller';

/** Lets a tenant add the caller again. */
export const unblock: Command = {
  arguments: [{ name: 'tenant', about: 'Its id, as iss invitations --blocked lists it.' }],
  options: { ...PROFILE_OPTION },
  async run(options, context) {
    const tenantId = textOf(options, 'tenant') ?? '';
    await asCaller(options, context, ({ iss }) => iss.tenant(tenantId).membership.unblock());
    context.print(`${tenantId} may invite you again.`);
  },
};
