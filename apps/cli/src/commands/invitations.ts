import { type Command, hasFlag } from '../command';
import { LIST_OPTIONS, showList } from '../output';
import { asCaller, PROFILE_OPTION } from '../service/caller';
import { visible } from '../visible';

export const invitations: Command = {
  about: 'You have no rights in a tenant before you join it.',
  options: { blocked: { about: 'List the tenants that you block.' }, ...LIST_OPTIONS, ...PROFILE_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ iss }) => {
      if (hasFlag(options, 'blocked')) {
        return showList(options, context, iss.blockedTenants(), {
          none: 'You block no tenant.',
          asRow: ({ tenant_id: tenant, blocked_at: since }) => ({ tenant, since }),
        });
      }
      return showList(options, context, iss.invitations(), {
        none: 'You have no invitations.',
        asRow: ({ tenant_id: tenant, name, api_functional_role: role, invited_by: by }) => ({
          tenant,
          name: visible(name),
          role,
          by: visible(by ?? ''),
        }),
      });
    });
  },
};
