import { asOwner, type LimitOverride, LimitOverrideStore, type LimitOwner } from '@iss/persistence';
import { isOverridable, MAX_LIMIT_VALUE, type OperatorEnv, OVERRIDABLE, type OverridableName } from '@iss/platform';
import { Failure, UsageError } from '../../command';
import { defineCommand } from '../../define';
import { JSON_OPTION, showOne, table } from '../../output';

/** The format of a principal id in the gateway. */
const PRINCIPAL = /^oidc:[^#\p{Cc}]{1,255}#[^\p{Cc}]{1,255}$/u;
const TENANT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const MAX_REASON = 500;

const ownerOptions = (group: { required?: string }) =>
  ({
    tenant: { value: 'ID', about: 'Tenant id.', group, read: tenantOf },
    principal: {
      value: 'ID',
      about: 'Principal id, such as oidc:project#user.',
      group,
      read: principalOf,
    },
  }) as const;
const OWNER = ownerOptions({ required: 'No tenant or principal is named. Add --tenant ID or --principal ID.' });
const NO_LIMIT = `--limit takes one of ${Object.keys(OVERRIDABLE).join(', ')}.`;
const NO_VALUE = `--value takes a whole number from 0 to ${MAX_LIMIT_VALUE}. 0 blocks everything.`;
const LIMIT = {
  limit: {
    value: 'NAME',
    about: 'Name of the limit.',
    required: NO_LIMIT,
    read: limitNameOf,
  },
} as const;

export const adminLimitsList = defineCommand({
  options: { ...ownerOptions({}), ...JSON_OPTION },
  async run({ tenant, principal }, context, options) {
    const owner = tenant ?? principal ?? null;
    const { databaseUrl, limits } = await context.env();
    const rows = await asOwner(databaseUrl, async (sql) => {
      const overrides = new LimitOverrideStore(sql);
      if (owner === null) {
        const all = [...(await overrides.all('tenant')), ...(await overrides.all('principal'))];
        return all.map((override) => rowOf(override, override, limits));
      }
      await requireTenant(overrides, owner);
      const own = await overrides.of(owner);
      const names = Object.keys(OVERRIDABLE).filter(isOverridable);
      return names
        .filter((name) => OVERRIDABLE[name].scope === owner.scope)
        .map((name) => rowOf({ ...owner, name }, own.find((one) => one.name === name) ?? null, limits));
    });
    showOne(options, context, rows, () =>
      rows.length === 0
        ? 'No custom limit is set. The defaults apply to all tenants and principals.'
        : table(rows.map(({ overridden: _overridden, set_at: set, reason, ...row }) => ({ ...row, set, reason }))),
    );
  },
});

/** Returns the limit in effect. */
function rowOf(
  { scope, scopeId, name }: LimitOwner & { name: string },
  override: LimitOverride | null,
  limits: OperatorEnv['limits'],
) {
  const standard = isOverridable(name) ? limits[name] : null;
  return {
    scope,
    id: scopeId,
    limit: name,
    value: override === null ? standard : override.value,
    default: standard,
    overridden: override !== null,
    reason: override?.reason ?? null,
    set_at: override?.setAt.toISOString() ?? null,
  };
}

export const adminLimitsSet = defineCommand({
  options: {
    ...OWNER,
    ...LIMIT,
    value: {
      value: 'N',
      about: 'New value. 0 blocks everything.',
      required: NO_VALUE,
      read: limitValueOf,
    },
    reason: { value: 'TEXT', about: 'Reason, shown by iss admin limits list.', read: reasonOf },
  },
  async run({ tenant, principal, limit: name, value, reason = null }, { env, print }) {
    const owner = requireOwner(tenant ?? principal, name);
    await asOwner((await env()).databaseUrl, async (sql) => {
      const overrides = new LimitOverrideStore(sql);
      await requireTenant(overrides, owner);
      await overrides.set(owner, name, value, reason);
    });
    print(`${name} of the ${owner.scope} ${owner.scopeId} is now ${value}.`);
  },
});

export const adminLimitsUnset = defineCommand({
  options: { ...OWNER, ...LIMIT },
  async run({ tenant, principal, limit: name }, { env, print }) {
    const owner = requireOwner(tenant ?? principal, name);
    const { databaseUrl, limits } = await env();
    const before = await asOwner(databaseUrl, async (sql) => {
      const overrides = new LimitOverrideStore(sql);
      await requireTenant(overrides, owner);
      return overrides.unset(owner, name);
    });
    const was = before === null ? 'had no custom value' : `was ${before.value}`;
    print(`${name} of the ${owner.scope} ${owner.scopeId} ${was}. The default of ${limits[name]} applies.`);
  },
});

function tenantOf(text: string): LimitOwner {
  if (TENANT.test(text)) return { scope: 'tenant', scopeId: text };
  throw new UsageError('--tenant takes a tenant_id, such as acme.');
}

function principalOf(text: string): LimitOwner {
  if (PRINCIPAL.test(text)) return { scope: 'principal', scopeId: text };
  throw new UsageError('--principal takes a principal_id, such as oidc:project#user.');
}

/** Returns the tenant or principal, if the limit is one of its kind. @throws UsageError */
function requireOwner(owner: LimitOwner | undefined, name: OverridableName): LimitOwner {
  const { scope } = OVERRIDABLE[name];
  if (owner?.scope === scope) return owner;
  throw new UsageError(`${name} is a limit of a ${scope}. Use --${scope} ID.`);
}

function limitNameOf(text: string): OverridableName {
  if (isOverridable(text)) return text;
  throw new UsageError(NO_LIMIT);
}

function limitValueOf(text: string): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value <= MAX_LIMIT_VALUE) return value;
  throw new UsageError(NO_VALUE);
}

function reasonOf(text: string): string {
  if (text.length <= MAX_REASON) return text;
  throw new UsageError(`--reason takes at most ${MAX_REASON} characters.`);
}

/** Requires that a named tenant exists. The database has no list of principals. @throws Failure */
async function requireTenant(overrides: LimitOverrideStore, { scope, scopeId }: LimitOwner): Promise<void> {
  if (scope !== 'tenant' || (await overrides.hasTenant(scopeId))) return;
  throw new Failure(`This database has no tenant ${scopeId}. Check the tenant_id and DATABASE_URL.`);
}
