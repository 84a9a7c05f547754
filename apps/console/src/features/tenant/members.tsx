import { type FormEvent, useState } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { tenantPath, useAction, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { principalName } from '../../text/principal.ts';
import { ROLES, TEXT } from './words.ts';
import { TEXT as UI } from '../../text/ui.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Checkbox, Select, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Badge, Empty, type Tone } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { Who } from '../../entities/who.tsx';
import ui from '../../ui/ui.module.css';
import styles from './tenant.module.css';

type Principal = api.Principal;
type Role = Principal['api_functional_role'];
type Kind = Principal['principal_type'];

const WORDS = TEXT.members;
const PRINCIPAL = /^oidc:[^#]{1,255}#.{1,255}$/;
const ROLE_NAMES: readonly Role[] = [
  'tenant_reader',
  'tenant_proposer',
  'tenant_editor',
  'tenant_admin',
  'tenant_owner',
];
const TONES: Readonly<Record<Principal['status'], Tone>> = { pending: 'accent', active: 'good', removed: 'bad' };
const KINDS: readonly Kind[] = ['human', 'service_account', 'ai_agent'];

/** Returns the roles that the caller may give: up to its own, or all as an account admin. */
function rolesOf({ role, tenancy_role: account }: api.TenantOfMember): readonly Role[] {
  if (account === 'account_admin') return ROLE_NAMES;
  return ROLE_NAMES.slice(0, ROLE_NAMES.indexOf(role) + 1);
}

export function Members({ tenant }: { tenant: api.TenantOfMember }) {
  const tenantId = tenant.tenant_id;
  const { status } = useSearch({ from: '/signed-in/t/$tenantId/tenant' });
  const navigate = useNavigate({ from: '/t/$tenantId/tenant' });
  const may = useMay(tenantId);
  const shown = status === 'pending' || status === 'removed' || status === 'any' ? status : 'active';
  const show = (one: string): void =>
    void navigate({ search: (before) => ({ ...before, status: one === 'active' ? '' : one }), replace: true });
  const list = useList<Principal>(tenantPath(tenantId, 'principals'), {
    limit: 200,
    ...(shown === 'any' ? {} : { status: shown }),
  });
  const [open, setOpen] = useState<{ what: 'add' } | { what: 'change' | 'remove'; of: Principal } | null>(null);
  const isAccountAdmin = tenant.tenancy_role === 'account_admin';
  const mayManage = may('PUT /v1/tenants/{tenant_id}/members/{principal_id}') || isAccountAdmin;
  const mayTouchOwners = may('DELETE /v1/tenants/{tenant_id}/members/{principal_id}, the member is a tenant_owner');
  const mayTouch = ({ api_functional_role: role }: Principal): boolean => role !== 'tenant_owner' || mayTouchOwners;
  const close = (): void => setOpen(null);
  return (
    <Section
      title={TEXT.tabs.members}
      actions={
        mayManage && (
          <Button kind="primary" small onClick={() => setOpen({ what: 'add' })}>
            {WORDS.add}
          </Button>
        )
      }
    >
      <div className={styles.stack}>
        <div className={ui.filters}>
          <Select
            label={WORDS.show}
            value={shown}
            options={[
              { value: 'active', label: WORDS.statuses.active },
              { value: 'pending', label: WORDS.statuses.pending },
              { value: 'removed', label: WORDS.statuses.removed },
              { value: 'any', label: TEXT.any },
            ]}
            onChange={(event) => show(event.target.value)}
          />
        </div>
        <ListTable
          caption={WORDS.caption}
          list={list}
          keyOf={({ principal_id: id }) => id}
          empty={<Empty title={WORDS.empty} />}
          columns={[
            {
              title: WORDS.principal,
              isHeader: true,
              value: ({ principal_id: id }) => id,
              cell: ({ principal_id: id }) => (
                <>
                  <Who id={id} /> <Copy text={id} name={WORDS.copyOf(principalName(id))} />
                </>
              ),
            },
            {
              title: WORDS.role,
              value: ({ api_functional_role: role }) => role,
              cell: ({ api_functional_role: role }) => (
                <span className={styles.word} title={ROLES[role].may}>
                  {role}
                </span>
              ),
            },
            {
              title: WORDS.type,
              value: ({ principal_type: type }) => WORDS.types[type],
            },
            { title: WORDS.account, value: ({ tenancy_role: role }) => WORDS.accounts[role] },
            {
              title: WORDS.flag,
              value: ({ allow_counterparty_access: isOn }) => (isOn ? WORDS.flagOn : WORDS.flagOff),
              cell: ({ allow_counterparty_access: isOn }) => (
                <Badge tone={isOn ? 'good' : 'plain'}>{isOn ? WORDS.flagOn : WORDS.flagOff}</Badge>
              ),
            },
            {
              title: WORDS.status,
              value: ({ status: one }) => WORDS.statuses[one],
              cell: ({ status: one }) => <Badge tone={TONES[one]}>{WORDS.statuses[one]}</Badge>,
            },
            { title: WORDS.since, at: ({ created_at: at }) => at, dayOnly: true },
            {
              title: TEXT.actions,
              cell: (one) =>
                mayManage &&
                one.status !== 'removed' && (
                  <span className={styles.buttons}>
                    {(mayTouch(one) || isAccountAdmin) && (
                      <Button
                        small
                        aria-label={WORDS.changeOf(one.principal_id)}
                        onClick={() => setOpen({ what: 'change', of: one })}
                      >
                        {WORDS.change}
                      </Button>
                    )}
                    {mayTouch(one) && may('DELETE /v1/tenants/{tenant_id}/members/{principal_id}') && (
                      <Button
                        small
                        kind="danger"
                        aria-label={WORDS.removeOf(one.principal_id)}
                        onClick={() => setOpen({ what: 'remove', of: one })}
                      >
                        {WORDS.remove}
                      </Button>
                    )}
                  </span>
                ),
            },
          ]}
        />
      </div>
      {open?.what === 'add' && <AddMember tenant={tenant} onAdded={show} onClose={close} />}
      {open?.what === 'change' && (
        <ChangeMember tenant={tenant} member={open.of} mayTouchRole={mayTouch(open.of)} onClose={close} />
      )}
      {open?.what === 'remove' && <RemoveMember tenantId={tenantId} member={open.of} onClose={close} />}
    </Section>
  );
}

function RoleField({
  roles,
  value,
  onChange,
}: {
  roles: readonly Role[];
  value: Role;
  onChange: (role: Role) => void;
}) {
  return (
    <Select
      label={WORDS.role}
      hint={ROLES[value].may}
      value={value}
      options={roles.map((role) => ({ value: role, label: `${ROLES[role].name} (${role})` }))}
      onChange={(event) => {
        const role = ROLE_NAMES.find((one) => one === event.target.value);
        if (role !== undefined) onChange(role);
      }}
    />
  );
}

function AddMember({
  tenant,
  onAdded,
  onClose,
}: {
  tenant: api.TenantOfMember;
  onAdded: (status: string) => void;
  onClose: () => void;
}) {
  const action = useAction<api.Member>(tenantPath(tenant.tenant_id));
  const [id, setId] = useState('');
  const [role, setRole] = useState<Role>('tenant_reader');
  const [kind, setKind] = useState('');
  const [isTried, setTried] = useState(false);
  const isGood = PRINCIPAL.test(id.trim());
  const call = {
    method: 'PUT',
    path: tenantPath(tenant.tenant_id, 'members', id.trim()),
    body: { role, ...(kind === '' ? {} : { principal_type: kind }) },
  } as const;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (!isGood) return;
    action.mutate(call, {
      onSuccess: ({ status }) => {
        onClose();
        // The list of active members would not show the new invitation.
        if (status === 'pending') onAdded(status);
      },
    });
  };
  return (
    <Dialog title={WORDS.addTitle} isOpen onClose={onClose}>
      <form className={ui.form} onSubmit={submit}>
        <TextField
          label={WORDS.id}
          hint={WORDS.idHint}
          fault={isTried && !isGood ? WORDS.idFault : undefined}
          value={id}
          onChange={(event) => setId(event.target.value)}
        />
        <RoleField roles={rolesOf(tenant)} value={role} onChange={setRole} />
        <p className={styles.quiet}>{WORDS.addText}</p>
        <Select
          label={WORDS.type}
          value={kind}
          options={[{ value: '', label: WORDS.asIs }, ...KINDS.map((value) => ({ value, label: WORDS.types[value] }))]}
          onChange={(event) => setKind(event.target.value)}
        />
        {action.error !== null && <Problem error={action.error} />}
        <div className={ui.dialogFoot}>
          {isGood && <CopyCurl call={call} />}
          <Button onClick={onClose}>{UI.cancel}</Button>
          <Button type="submit" kind="primary" isPending={action.isPending}>
            {WORDS.add}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Changes a member. Sends only the changed members, and offers only what the caller may change. */
function ChangeMember({
  tenant,
  member,
  mayTouchRole,
  onClose,
}: {
  tenant: api.TenantOfMember;
  member: Principal;
  /** False for the role of an owner, unless the caller is an owner. */
  mayTouchRole: boolean;
  onClose: () => void;
}) {
  const action = useAction(tenantPath(tenant.tenant_id), '/v1/tenants');
  const [role, setRole] = useState(member.api_functional_role);
  const [kind, setKind] = useState(member.principal_type);
  const [isAccountAdmin, setAccountAdmin] = useState(member.tenancy_role === 'account_admin');
  const [isOn, setOn] = useState(member.allow_counterparty_access);
  const byAccountAdmin = tenant.tenancy_role === 'account_admin';
  const roles = rolesOf(tenant);
  const account = isAccountAdmin ? 'account_admin' : 'member';
  const body: api.PutPrincipalBody = {
    ...(role === member.api_functional_role ? {} : { api_functional_role: role }),
    ...(kind === member.principal_type ? {} : { principal_type: kind }),
    ...(account === member.tenancy_role ? {} : { tenancy_role: account }),
    ...(isOn === member.allow_counterparty_access ? {} : { allow_counterparty_access: isOn }),
  };
  const isChanged = Object.keys(body).length > 0;
  const call = {
    method: 'PUT',
    path: tenantPath(tenant.tenant_id, 'principals', member.principal_id),
    body,
  } as const;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isChanged) action.mutate(call, { onSuccess: onClose });
  };
  return (
    <Dialog title={WORDS.changeTitle(member.principal_id)} isOpen onClose={onClose}>
      <form className={ui.form} onSubmit={submit}>
        {mayTouchRole && (
          <>
            <RoleField
              roles={roles.includes(member.api_functional_role) ? roles : [...roles, member.api_functional_role]}
              value={role}
              onChange={setRole}
            />
            <Select
              label={WORDS.type}
              value={kind}
              options={KINDS.filter((one) => one === member.principal_type || one !== 'human' || byAccountAdmin).map(
                (value) => ({ value, label: WORDS.types[value] }),
              )}
              onChange={(event) => setKind(KINDS.find((one) => one === event.target.value) ?? kind)}
            />
          </>
        )}
        {byAccountAdmin && mayTouchRole && (
          <div>
            <Checkbox
              label={WORDS.accounts.account_admin}
              checked={isAccountAdmin}
              onChange={() => setAccountAdmin(!isAccountAdmin)}
            />
            <p className={styles.quiet}>{WORDS.accountText}</p>
          </div>
        )}
        {(byAccountAdmin || member.allow_counterparty_access) && (
          <div>
            <Checkbox label={WORDS.flagLabel} checked={isOn} onChange={() => setOn(!isOn)} />
            <p className={styles.quiet}>{WORDS.flagText}</p>
          </div>
        )}
        <p className={styles.quiet} role="status">
          {!isChanged && WORDS.nothing}
        </p>
        {action.error !== null && <Problem error={action.error} />}
        <div className={ui.dialogFoot}>
          {isChanged && <CopyCurl call={call} />}
          <Button onClick={onClose}>{UI.cancel}</Button>
          <Button type="submit" kind="primary" isPending={action.isPending} disabled={!isChanged}>
            {TEXT.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function RemoveMember({ tenantId, member, onClose }: { tenantId: string; member: Principal; onClose: () => void }) {
  const action = useAction(tenantPath(tenantId), '/v1/tenants');
  return (
    <Confirm
      title={WORDS.removeTitle(member.principal_id)}
      confirm={WORDS.remove}
      isOpen
      isPending={action.isPending}
      error={action.error}
      onConfirm={() =>
        action.mutate(
          { method: 'DELETE', path: tenantPath(tenantId, 'members', member.principal_id) },
          { onSuccess: onClose },
        )
      }
      onClose={onClose}
    >
      <p>{WORDS.removeText}</p>
    </Confirm>
  );
}
