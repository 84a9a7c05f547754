import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, PROFILE_OPTION } from '../service/caller';

export const join: Command = {
  arguments: [{ name: 'tenant', about: 'Tenant id, from iss invitations.' }],
  options: { ...PROFILE_OPTION, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ iss }) => {
      const joined = await iss.tenant(textOf(options, 'tenant') ?? '').membership.accept();
      showOne(options, context, joined, ({ tenant_id: tenant, api_functional_role: role }) =>
        [`You are a ${role} of ${tenant}.`, `To act for it: iss use ${tenant}`].join('\n'),
      );
    });
  },
};
