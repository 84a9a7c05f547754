import type { api, Tenant } from '@identity-state/client';
import { Failure } from '../command';
import { defineCommand } from '../define';
import { allOf, table } from '../output';
import { asCaller, claimsOf, profileNameOf, PROFILE_OPTION } from '../service/caller';
import { defineCall, defineList, listing } from '../service/define';
import { Profiles } from '../identity/profiles';

export const logout = defineCommand({
  about: 'A copied access token stays valid until it expires, because the service keeps no list of tokens.',
  options: PROFILE_OPTION,
  async run(_values, context, options) {
    const name = profileNameOf(options, context);
    const isRemoved = new Profiles(context.settings.configFolder).remove(name);
    context.print(isRemoved ? `Deleted the profile ${name} and its tokens.` : `There is no profile ${name}.`);
  },
});

export const whoami = defineCall({
  about: 'The token names the user, and the service names the tenants. It fails if the token is no longer valid.',
  async call(caller) {
    const { iss, baseUrl, tenantId } = caller;
    const tenants = await allOf(iss.tenants());
    // The token that the service just accepted.
    const { sub, iss: issuer } = claimsOf(caller.token);
    const user = typeof sub === 'string' ? sub : null;
    return { user, issuer: issuer ?? null, base_url: baseUrl, tenant: tenantId, tenants };
  },
  text: ({ user, base_url: baseUrl, tenant, tenants }) => [
    `${user ?? 'Unknown user'} at ${baseUrl}, ${tenant === null ? 'no tenant selected (iss use TENANT)' : `for the tenant ${tenant}`}`,
    ...(tenants.length === 0
      ? ['You are not a member of any tenant.']
      : table(tenants.map(({ tenant_id: id, name, api_functional_role: role }) => ({ tenant: id, role, name }))).split(
          '\n',
        )),
  ],
});

export const use = defineCommand({
  arguments: { tenant: { about: 'Tenant id.' } },
  options: {
    create: { value: 'NAME', about: 'Create the tenant first, with this name. You become its owner.' },
    ...PROFILE_OPTION,
  },
  async run({ tenant: tenantId, create }, context, options) {
    await asCaller(options, context, async ({ iss }) => {
      if (create !== undefined) await iss.createTenant({ tenant_id: tenantId, name: create });
      for await (const tenant of iss.tenants()) if (tenant.tenant_id === tenantId) return;
      throw new Failure(
        `You are not a member of ${tenantId}. iss whoami lists your tenants. To create the tenant, add --create NAME.`,
      );
    });
    const name = profileNameOf(options, context);
    const profiles = new Profiles(context.settings.configFolder);
    const profile = profiles.read(name);
    // With ISS_TOKEN there may be no profile. ISS_TENANT then selects the tenant.
    if (profile === null)
      throw new Failure(`There is no profile ${name} to save the tenant in. Run iss login, or set ISS_TENANT.`);
    profiles.write(name, { ...profile, tenant: tenantId });
    context.print(`The profile ${name} now acts for ${tenantId}.`);
  },
});

export const invitations = defineList({
  about: 'You have no rights in a tenant before you join it.',
  isOfUser: true,
  options: { blocked: { about: 'List the tenants that you block.' } },
  list: ({ blocked }) =>
    blocked
      ? listing({
          items: ({ iss }) => iss.blockedTenants(),
          none: 'You block no tenant.',
          columns: ({ tenant_id: tenant, blocked_at: since }) => ({ tenant, since }),
        })
      : listing({
          items: ({ iss }) => iss.invitations(),
          none: 'You have no invitations.',
          columns: ({ tenant_id: tenant, name, api_functional_role: role, invited_by: by }) => ({
            tenant,
            name,
            role,
            by,
          }),
        }),
});

export const join = defineCall({
  isOfUser: true,
  arguments: { tenant: { about: 'Tenant id, from iss invitations.' } },
  call: ({ iss }, { tenant }) => iss.tenant(tenant).membership.accept(),
  text: ({ tenant_id: tenant, api_functional_role: role }) => [
    `You are a ${role} of ${tenant}.`,
    `To act for it: iss use ${tenant}`,
  ],
});

export const leave = defineCall({
  about: 'It takes effect immediately. The last owner of a tenant cannot leave.',
  isOfUser: true,
  hasAnswer: false,
  arguments: { tenant: { about: 'Tenant id, from iss whoami or iss invitations.' } },
  options: { block: { about: 'Prevent the tenant from adding you again, until iss unblock.' } },
  async call({ iss }, { tenant, block }) {
    const { membership } = iss.tenant(tenant);
    if (block) await membership.block();
    else await membership.leave();
  },
  text: (_answer, { tenant, block }) =>
    block ? `You block ${tenant}. To allow invitations again: iss unblock ${tenant}` : `You left ${tenant}.`,
});

export const unblock = defineCall({
  isOfUser: true,
  hasAnswer: false,
  arguments: { tenant: { about: 'Tenant id, from iss invitations --blocked.' } },
  call: ({ iss }, { tenant }) => iss.tenant(tenant).membership.unblock(),
  text: (_answer, { tenant }) => `${tenant} can invite you again.`,
});

export const members = defineList({
  about: 'GRANTS shows which members may use the grants that your tenant received.',
  options: { status: { value: 'STATUS', about: 'Membership status: pending, active or removed.' } },
  list: ({ status }) =>
    listing({
      items: ({ tenant }) => membersOf(tenant, status),
      none: 'No member matches.',
      paint: { principal: 'yellow' },
      columns: (member) => ({
        principal: member.principal_id,
        role: member.api_functional_role,
        tenancy: member.tenancy_role,
        type: member.principal_type,
        grants: member.allow_counterparty_access ? 'may use' : '',
        status: member.status,
      }),
    }),
});

async function* membersOf(tenant: Tenant, status: string | undefined): AsyncGenerator<api.Principal, void> {
  for await (const member of tenant.principals()) if (status === undefined || member.status === status) yield member;
}
