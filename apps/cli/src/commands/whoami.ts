import type { Command } from '../command';
import { allOf, JSON_OPTION, showOne, table } from '../output';
import { asCaller, CALLER_OPTIONS, claimsOf } from '../service/caller';
import { visible } from '../visible';

export const whoami: Command = {
  about: 'The token names the user, and the service names the tenants. It fails if the token is no longer valid.',
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
          `${visible(user ?? 'Unknown user')} at ${baseUrl}, ${tenantId === null ? 'no tenant selected (iss use TENANT)' : `for the tenant ${tenantId}`}`,
          ...(tenants.length === 0
            ? ['You are not a member of any tenant.']
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
