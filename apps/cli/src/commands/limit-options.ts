import type { LimitOwner } from '@iss/persistence';
import { isOverridable, OVERRIDABLE, type OverridableName } from '@iss/platform';
import { type Options, textOf, UsageError } from '../command';

/** The format of a principal id in the gateway. */
const PRINCIPAL = /^oidc:[^#\p{Cc}]{1,255}#[^\p{Cc}]{1,255}$/u;
const TENANT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export const OWNER_OPTIONS = {
  tenant: { value: 'ID', about: 'Tenant id.' },
  principal: { value: 'ID', about: 'Principal id, such as oidc:project#user.' },
} as const;
export const OWNER_USAGE = '--tenant ID | --principal ID';

/** Returns the tenant or principal that is named; null if neither is. @throws UsageError */
export function ownerOf(options: Options): LimitOwner | null {
  const tenantId = textOf(options, 'tenant');
  const principalId = textOf(options, 'principal');
  if (tenantId !== undefined && principalId !== undefined) {
    throw new UsageError('--tenant and --principal exclude each other. Remove one of them.');
  }
  if (tenantId !== undefined) {
    if (!TENANT.test(tenantId)) throw new UsageError('--tenant takes a tenant_id, such as acme.');
    return { scope: 'tenant', scopeId: tenantId };
  }
  if (principalId !== undefined) {
    if (!PRINCIPAL.test(principalId)) {
      throw new UsageError('--principal takes a principal_id, such as oidc:project#user.');
    }
    return { scope: 'principal', scopeId: principalId };
  }
  return null;
}

/** Returns the limit to change, with its tenant or principal. @throws UsageError */
export function limitOf(options: Options): { owner: LimitOwner; name: OverridableName } {
  const owner = ownerOf(options);
  if (owner === null) throw new UsageError('No tenant or principal is named. Add --tenant ID or --principal ID.');
  const name = textOf(options, 'limit') ?? '';
  if (!isOverridable(name)) {
    const names = Object.keys(OVERRIDABLE).join(', ');
    throw new UsageError(`--limit takes one of ${names}.`);
  }
  const { scope } = OVERRIDABLE[name];
  if (scope !== owner.scope) throw new UsageError(`${name} is a limit of a ${scope}. Use --${scope} ID.`);
  return { owner, name };
}
