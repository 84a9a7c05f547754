import { type Command, Failure, textOf } from '../command';
import { asCaller, profileNameOf, PROFILE_OPTION } from '../service/caller';
import { Profiles } from '../service/profiles';

export const use: Command = {
  arguments: [{ name: 'tenant', about: 'Tenant id.' }],
  options: {
    create: { value: 'NAME', about: 'Create the tenant first, with this name. You become its owner.' },
    ...PROFILE_OPTION,
  },
  async run(options, context) {
    const tenantId = textOf(options, 'tenant') ?? '';
    const created = textOf(options, 'create');
    await asCaller(options, context, async ({ iss }) => {
      if (created !== undefined) await iss.createTenant({ tenant_id: tenantId, name: created });
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
};
