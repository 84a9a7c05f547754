import { type Command, Failure, textOf } from '../command';
import { asCaller, profileNameOf, PROFILE_OPTION } from '../service/caller';
import { Profiles } from '../service/profiles';

/** Chooses the tenant that a profile acts for. */
export const use: Command = {
  arguments: [{ name: 'tenant', about: 'Its id.' }],
  options: {
    create: { value: 'NAME', about: 'Founds the tenant first, under this name: you own it.' },
    ...PROFILE_OPTION,
  },
  async run(options, context) {
    const tenantId = textOf(options, 'tenant') ?? '';
    const created = textOf(options, 'create');
    await asCaller(options, context, async ({ iss }) => {
      if (created !== undefined) await iss.createTenant({ tenant_id: tenantId, name: created });
      for await (const tenant of iss.tenants()) if (tenant.tenant_id === tenantId) return;
      throw new Failure(`You are no member of ${tenantId}: iss whoami names your tenants, --create NAME founds it.`);
    });
    const name = profileNameOf(options, context);
    const profiles = new Profiles(context.settings.configFolder);
    const profile = profiles.read(name);
    // With ISS_TOKEN alone there is none, and ISS_TENANT says the same.
    if (profile === null)
      throw new Failure(`There is no profile ${name} to remember it: iss login, or set ISS_TENANT.`);
    profiles.write(name, { ...profile, tenant: tenantId });
    context.print(`The profile ${name} acts for ${tenantId}.`);
  },
};
