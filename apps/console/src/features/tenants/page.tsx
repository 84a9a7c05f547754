import { type FormEvent, useState } from 'react';
import { Link, useNavigate } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { tenantPath, useAction, useList, useTenants } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Empty } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import Invitations, { OF_MEMBERSHIPS } from './invitations.tsx';

/** Shows the caller's tenants, its invitations and the tenants that it blocks. */
export function TenantsView() {
  const { principalId } = useSession();
  return (
    <Page title={TEXT.title} {...(principalId === '' ? {} : { note: <OwnId id={principalId} /> })}>
      <Memberships />
      <Invitations />
      <Blocked />
      <NewTenant />
    </Page>
  );
}

function OwnId({ id }: { id: string }) {
  return (
    <>
      {TEXT.yourId} <code>{id}</code> <Copy text={id} />
    </>
  );
}

function Memberships() {
  const list = useTenants();
  const action = useAction(...OF_MEMBERSHIPS);
  const [leaving, setLeaving] = useState<api.TenantItem | null>(null);
  return (
    <Section title={TEXT.tenants}>
      <ListTable
        caption={TEXT.tenants}
        list={list}
        keyOf={({ tenant_id: id }) => id}
        empty={
          <Empty title={TEXT.none}>
            <p>{TEXT.noneText}</p>
          </Empty>
        }
        columns={[
          {
            title: TEXT.name,
            isHeader: true,
            value: ({ name }) => name,
            cell: ({ tenant_id: tenantId, name }) => (
              <Link to="/t/$tenantId/subjects" params={{ tenantId }}>
                {name}
              </Link>
            ),
          },
          { title: TEXT.id, value: ({ tenant_id: id }) => id },
          { title: TEXT.role, value: ({ role }) => role },
          {
            title: TEXT.actions,
            cell: (tenant) => (
              <Button small aria-label={TEXT.leaveOf(tenant.name)} onClick={() => setLeaving(tenant)}>
                {TEXT.leave}
              </Button>
            ),
          },
        ]}
      />
      {leaving !== null && (
        <Confirm
          title={TEXT.leaveTitle(leaving.name)}
          confirm={TEXT.leave}
          isOpen
          isPending={action.isPending}
          error={action.error}
          onConfirm={() =>
            action.mutate(
              { method: 'POST', path: tenantPath(leaving.tenant_id, 'membership', 'leave') },
              { onSuccess: () => setLeaving(null) },
            )
          }
          onClose={() => setLeaving(null)}
        >
          <p>{TEXT.leaveText}</p>
        </Confirm>
      )}
    </Section>
  );
}

function Blocked() {
  const list = useList<api.BlockedTenant>('/v1/blocked-tenants');
  const action = useAction(...OF_MEMBERSHIPS);
  if (list.items.length === 0) return null;
  return (
    <Section title={TEXT.blocked}>
      {action.error !== null && <Problem error={action.error} />}
      <ListTable
        caption={TEXT.blocked}
        list={list}
        keyOf={({ tenant_id: id }) => id}
        empty={null}
        columns={[
          { title: TEXT.id, isHeader: true, value: ({ tenant_id: id }) => id },
          { title: TEXT.since, at: ({ blocked_at: at }) => at },
          {
            title: TEXT.actions,
            cell: ({ tenant_id: id }) => (
              <Button
                small
                aria-label={TEXT.unblockOf(id)}
                isPending={action.isPending}
                onClick={() => action.mutate({ method: 'DELETE', path: tenantPath(id, 'membership', 'block') })}
              >
                {TEXT.unblock}
              </Button>
            ),
          },
        ]}
      />
    </Section>
  );
}

function NewTenant() {
  const create = useAction('/v1/tenants');
  const navigate = useNavigate();
  const [tenantId, setTenantId] = useState('');
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(
      { method: 'POST', path: '/v1/tenants', body: { tenant_id: tenantId, name } },
      { onSuccess: () => void navigate({ to: '/t/$tenantId/subjects', params: { tenantId } }) },
    );
  };
  return (
    <Section title={TEXT.create}>
      <form className={ui.form} onSubmit={submit}>
        <TextField label={TEXT.newId} value={tenantId} required onChange={(event) => setTenantId(event.target.value)} />
        <TextField label={TEXT.newName} value={name} required onChange={(event) => setName(event.target.value)} />
        {create.error !== null && <Problem error={create.error} />}
        <Button type="submit" kind="primary" isPending={create.isPending}>
          {TEXT.make}
        </Button>
      </form>
    </Section>
  );
}
