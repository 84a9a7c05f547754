import type { api } from '@identity-state/client';
import { apiCall, tenantPath, useAction } from '../../app/api.ts';
import { type Role, ROLES } from '@iss/domain/pure';
import { isPrincipal } from '../../entities/principal-name.ts';
import { FormDialog, changedMembers, useForm } from '../../forms/form.tsx';
import { Checkbox, Select, TextField } from '../../ui/field.tsx';
import ui from '../../ui/ui.module.css';
import { ROLE_WORDS, TEXT } from './words.ts';

type Principal = api.Principal;
type Kind = Principal['principal_type'];

const WORDS = TEXT.members;
export const OF_MEMBER = '/v1/tenants/{tenant_id}/members/{principal_id}';
const KINDS: readonly Kind[] = ['human', 'service_account', 'ai_agent'];

/** Returns the roles that the caller may give: up to its own, or all as an account admin. */
function rolesOf({ role, tenancy_role: account }: api.TenantOfMember): readonly Role[] {
  return account === 'account_admin' ? ROLES : ROLES.slice(0, ROLES.indexOf(role) + 1);
}

const roleOption = (role: Role) => ({ value: role, label: `${ROLE_WORDS[role].name} (${role})` });
const kindOption = (kind: Kind) => ({ value: kind, label: WORDS.types[kind] });

interface AddMemberProps {
  tenant: api.TenantOfMember;
  /** Runs if the principal must accept first: the list of active members does not show it. */
  onInvited: () => void;
  onClose: () => void;
}

export function AddMember({ tenant, onInvited, onClose }: AddMemberProps) {
  const start: { id: string; role: Role; kind: Kind | '' } = { id: '', role: 'tenant_reader', kind: '' };
  const form = useForm({
    start,
    action: useAction<api.Member>(tenantPath(tenant.tenant_id)),
    callOf: ({ id, role, kind }) =>
      apiCall('PUT', OF_MEMBER, {
        path: { tenant_id: tenant.tenant_id, principal_id: id.trim() },
        body: { role, ...(kind === '' ? {} : { principal_type: kind }) },
      }),
    faultsOf: ({ id }) => ({ id: isPrincipal(id.trim()) ? undefined : WORDS.idFault }),
    onDone: ({ status }) => {
      onClose();
      if (status === 'pending') onInvited();
    },
  });
  const { role } = form.values;
  return (
    <FormDialog title={WORDS.addTitle} form={form} submit={WORDS.add} onClose={onClose}>
      <TextField label={WORDS.id} hint={WORDS.idHint} {...form.text('id')} />
      <Select
        label={WORDS.role}
        hint={ROLE_WORDS[role].may}
        options={rolesOf(tenant).map(roleOption)}
        {...form.choice('role', ROLES)}
      />
      <p className={ui.quiet}>{WORDS.addText}</p>
      <Select
        label={WORDS.type}
        options={[{ value: '', label: WORDS.asIs }, ...KINDS.map(kindOption)]}
        {...form.choice('kind', ['', ...KINDS])}
      />
    </FormDialog>
  );
}

interface ChangeMemberProps {
  tenant: api.TenantOfMember;
  member: Principal;
  /** False for the role of an owner, unless the caller is an owner. */
  mayTouchRole: boolean;
  onClose: () => void;
}

/** Changes a member. Sends only the changed members, and offers only what the caller may change. */
export function ChangeMember({ tenant, member, mayTouchRole, onClose }: ChangeMemberProps) {
  const { api_functional_role, principal_type, tenancy_role, allow_counterparty_access } = member;
  const start = { api_functional_role, principal_type, tenancy_role, allow_counterparty_access };
  const form = useForm({
    start,
    action: useAction(tenantPath(tenant.tenant_id), '/v1/tenants'),
    callOf: (values) => {
      const body = changedMembers(start, values);
      const path = { tenant_id: tenant.tenant_id, principal_id: member.principal_id };
      if (Object.keys(body).length === 0) return null;
      return apiCall('PUT', '/v1/tenants/{tenant_id}/principals/{principal_id}', { path, body });
    },
    onDone: onClose,
  });
  const byAccountAdmin = tenant.tenancy_role === 'account_admin';
  const roles = rolesOf(tenant);
  const isAccountAdmin = form.values.tenancy_role === 'account_admin';
  return (
    <FormDialog title={WORDS.changeTitle(member.principal_id)} form={form} submit={TEXT.save} onClose={onClose}>
      {mayTouchRole && (
        <>
          <Select
            label={WORDS.role}
            hint={ROLE_WORDS[form.values.api_functional_role].may}
            options={(roles.includes(api_functional_role) ? roles : [...roles, api_functional_role]).map(roleOption)}
            {...form.choice('api_functional_role', ROLES)}
          />
          <Select
            label={WORDS.type}
            options={KINDS.filter((one) => one === principal_type || one !== 'human' || byAccountAdmin).map(kindOption)}
            {...form.choice('principal_type', KINDS)}
          />
        </>
      )}
      {byAccountAdmin && mayTouchRole && (
        <Checkbox
          label={WORDS.accounts.account_admin}
          hint={WORDS.accountText}
          checked={isAccountAdmin}
          onChange={() => form.set({ tenancy_role: isAccountAdmin ? 'member' : 'account_admin' })}
        />
      )}
      {(byAccountAdmin || allow_counterparty_access) && (
        <Checkbox label={WORDS.flagLabel} hint={WORDS.flagText} {...form.check('allow_counterparty_access')} />
      )}
      <p className={ui.quiet} role="status">
        {form.call === null && WORDS.nothing}
      </p>
    </FormDialog>
  );
}
