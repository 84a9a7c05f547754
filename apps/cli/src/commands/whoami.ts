import type { Command } from '../command';
import { allOf, JSON_OPTION, showOne, table } from '../output';
import { asCaller, CALLER_OPTIONS, claimsOf } from '../service/caller';
import { visible } from '../visible';

/** Says who calls: by the token, and by what the service makes of it. */
export const whoami: Command = {
  about: 'The token says who; the service says of which tenants. So it fails where the token is not good any more.',
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async (caller) => {
      const { iss, baseUrl, tenantId } = caller;
      const tenants = await allOf(iss.tenants());
      const { sub, iss: issuer } = claimsOf(caller.token);
      const user = typeof sub === 'string' ? sub : null;
      const shown = { user, issuer: issuer ?? null, base_url: baseUrl, tenant: tenantId, tenants };
      showOne(options, context, shown, () =>
        [
          `${visible(user ?? 'Somebody')} at ${baseUrl}, ${tenantId === null ? 'for no tenant yet: iss use TENANT' : `for the tenant ${tenantId}`}`,
          ...(tenants.length === 0
            ? ['A member of no tenant.']
            : [
                table(
                  tenants.map(({ tenant_id: tenant, name, api_functional_role: role }) => ({ tenant, role, name })),
                ),
              ]),
        ].join('\n'),
      );
    });
  },
};
