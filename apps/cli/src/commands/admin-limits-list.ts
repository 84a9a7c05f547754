import { asOwner, type LimitOverride, LimitOverrideStore, type LimitOwner } from '@iss/persistence';
import { isOverridable, type OperatorEnv, OVERRIDABLE } from '@iss/platform';
import { type Command, hasFlag } from '../command';
import { JSON_OPTION, table } from '../output';
import { OWNER_OPTIONS, OWNER_USAGE, ownerOf } from './limit-options';
import { requireTenant } from './require-tenant';

interface ShownLimit extends LimitOwner {
  limit: string;
  /** The limit in effect. */
  value: number;
  default: number | null;
  isOverridden: boolean;
  reason: string | null;
  setAt: Date | null;
}

export const listLimits: Command = {
  usage: `[${OWNER_USAGE}]`,
  options: { ...OWNER_OPTIONS, ...JSON_OPTION },
  async run(options, { env, print }) {
    const owner = ownerOf(options);
    const { databaseUrl, limits } = await env();
    const shown = await asOwner(databaseUrl, async (sql) => {
      const overrides = new LimitOverrideStore(sql);
      if (owner === null) {
        const found = [...(await overrides.all('tenant')), ...(await overrides.all('principal'))];
        return found.map((override) => overridden(override, limits));
      }
      await requireTenant(overrides, owner);
      return everyLimit(owner, await overrides.of(owner), limits);
    });
    if (hasFlag(options, 'json')) print(JSON.stringify(shown.map(asJson), null, 2));
    else
      print(
        shown.length === 0
          ? 'No custom limit is set. The defaults apply to all tenants and principals.'
          : table(shown.map(asText)),
      );
  },
};

function overridden({ name, value, reason, setAt, scope, scopeId }: LimitOverride, limits: OperatorEnv['limits']) {
  const standard = isOverridable(name) ? limits[name] : null;
  return { scope, scopeId, limit: name, value, default: standard, isOverridden: true, reason, setAt };
}

function everyLimit(
  owner: LimitOwner,
  overrides: readonly LimitOverride[],
  limits: OperatorEnv['limits'],
): ShownLimit[] {
  const names = Object.keys(OVERRIDABLE)
    .filter(isOverridable)
    .filter((name) => OVERRIDABLE[name].scope === owner.scope);
  return names.map((name) => {
    const override = overrides.find((one) => one.name === name);
    if (override !== undefined) return overridden(override, limits);
    const value = limits[name];
    return { ...owner, limit: name, value, default: value, isOverridden: false, reason: null, setAt: null };
  });
}

function asJson({ scope, scopeId, limit, value, default: standard, isOverridden, reason, setAt }: ShownLimit) {
  return { scope, id: scopeId, limit, value, default: standard, overridden: isOverridden, reason, set_at: setAt };
}

function asText({ scope, scopeId, limit, value, default: standard, reason, setAt }: ShownLimit) {
  return {
    scope,
    id: scopeId,
    limit,
    value: String(value),
    default: standard === null ? '' : String(standard),
    set: setAt?.toISOString() ?? '',
    reason: reason ?? '',
  };
}
