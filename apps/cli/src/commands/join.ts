import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, PROFILE_OPTION } from '../service/caller';

/** Accepts the invitation of a tenant. */
export const join: Command = {
  arguments: [{ name: 'tenant', about: 'Its id, as iss invitations lists it.' }],
  options: { ...PROFILE_OPTION, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ iss }) => {
      const joined = await iss.tenant(textOf(options, 'tenant') ?? '').membership.accept();
      showOne(options, context, joined, ({ tenant_id: tenant, api_functional_role: role }) =>
        [`You are a ${role} of ${tenant}.`, `Act for it: iss use ${tenant}`].join('\n'),
      );
    });
  },
};
