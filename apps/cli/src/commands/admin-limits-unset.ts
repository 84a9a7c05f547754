import { asOwner, LimitOverrideStore } from '@iss/persistence';
import type { Command } from '../command';
import { limitOf, OWNER_OPTIONS, OWNER_USAGE } from './limit-options';
import { requireTenant } from './require-tenant';

export const unsetLimit: Command = {
  usage: `(${OWNER_USAGE}) --limit NAME`,
  options: { ...OWNER_OPTIONS, limit: { value: 'NAME', about: 'Name of the limit.' } },
  async run(options, { env, print }) {
    const { owner, name } = limitOf(options);
    const { databaseUrl, limits } = await env();
    const unset = await asOwner(databaseUrl, async (sql) => {
      const overrides = new LimitOverrideStore(sql);
      await requireTenant(overrides, owner);
      return overrides.unset(owner, name);
    });
    const was = unset === null ? 'had no custom value' : `was ${unset.value}`;
    print(`${name} of the ${owner.scope} ${owner.scopeId} ${was}. The default of ${limits[name]} applies.`);
  },
};
