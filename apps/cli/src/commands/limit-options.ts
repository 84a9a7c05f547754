import type { LimitOwner } from '@iss/persistence';
import { isOverridable, OVERRIDABLE, type OverridableName } from '@iss/platform';
import { type Options, textOf, UsageError } from '../command';

/** As the gateway names whoever a token is of. */
const PRINCIPAL = /^oidc:[^#\p{Cc}]{1,255}#[^\p{Cc}]{1,255}$/u;
const TENANT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whose limits a command is about. */
export const OWNER_OPTIONS = {
  tenant: { value: 'ID', about: 'The tenant whose limit it is.' },
  principal: { value: 'ID', about: 'The principal whose limit it is, as oidc:project#user.' },
} as const;
export const OWNER_USAGE = '--tenant ID | --principal ID';

/** The tenant or the principal that is named; null for neither. */
export function ownerOf(options: Options): LimitOwner | null {
  const tenantId = textOf(options, 'tenant');
  const principalId = textOf(options, 'principal');
  if (tenantId !== undefined && principalId !== undefined) {
    throw new UsageError('Name one: --tenant ID or --principal ID.');
  }
  if (tenantId !== undefined) {
    if (!TENANT.test(tenantId)) throw new UsageError('--tenant takes a tenant_id, as acme.');
    return { scope: 'tenant', scopeId: tenantId };
  }
  if (principalId !== undefined) {
    if (!PRINCIPAL.test(principalId)) {
      throw new UsageError('--principal takes a principal_id, as oidc:project#user.');
    }
    return { scope: 'principal', scopeId: principalId };
  }
  return null;
}

/** The limit that is to change, and whose. */
export function limitOf(options: Options): { owner: LimitOwner; name: OverridableName } {
  const owner = ownerOf(options);
  if (owner === null) throw new UsageError('Whose limit? Name --tenant ID or --principal ID.');
  const name = textOf(options, 'limit') ?? '';
  if (!isOverridable(name)) {
    const names = Object.keys(OVERRIDABLE).join(', ');
    throw new UsageError(`--limit takes the name of a limit: ${names}.`);
  }
  const { scope } = OVERRIDABLE[name];
  if (scope !== owner.scope) throw new UsageError(`${name} is a limit of a ${scope}: name it by --${scope} ID.`);
  return { owner, name };
}
