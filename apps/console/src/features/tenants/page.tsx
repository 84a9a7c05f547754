import { Link, useNavigate } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { apiCall, useAction, useList, useTenants } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { ConfirmCall, Form, useForm } from '../../forms/form.tsx';
import { useRowActions } from '../../forms/row-actions.tsx';
import { Copy } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Page, Problem, Section } from '../../ui/page.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import Invitations, { MEMBERSHIP, OF_MEMBERSHIPS } from './invitations.tsx';
import { TEXT } from './words.ts';

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
  const [actions, dialog] = useRowActions<api.TenantItem>(TEXT.actions, [
    {
      label: TEXT.leave,
      nameOf: ({ name }) => TEXT.leaveOf(name),
      dialog: ({ tenant_id, name }, close) => (
        <ConfirmCall
          title={TEXT.leaveTitle(name)}
          confirm={TEXT.leave}
          call={apiCall('POST', `${MEMBERSHIP}/leave`, { path: { tenant_id } })}
          changes={OF_MEMBERSHIPS}
          onClose={close}
        >
          <p>{TEXT.leaveText}</p>
        </ConfirmCall>
      ),
    },
  ]);
  return (
    <Section title={TEXT.tenants}>
      <ListTable
        caption={TEXT.tenants}
        list={useTenants()}
        keyOf={({ tenant_id: id }) => id}
        empty={<Empty title={TEXT.none} text={TEXT.noneText} />}
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
          actions,
        ]}
      />
      {dialog}
    </Section>
  );
}

function Blocked() {
  const list = useList(apiCall('GET', '/v1/blocked-tenants'));
  const action = useAction(...OF_MEMBERSHIPS);
  const [actions] = useRowActions<api.BlockedTenant>(TEXT.actions, [
    {
      label: TEXT.unblock,
      nameOf: ({ tenant_id: id }) => TEXT.unblockOf(id),
      isPending: action.isPending,
      run: ({ tenant_id }) => action.mutate(apiCall('DELETE', `${MEMBERSHIP}/block`, { path: { tenant_id } })),
    },
  ]);
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
          actions,
        ]}
      />
    </Section>
  );
}

function NewTenant() {
  const navigate = useNavigate();
  const form = useForm({
    start: { tenantId: '', name: '' },
    action: useAction('/v1/tenants'),
    callOf: ({ tenantId, name }) => apiCall('POST', '/v1/tenants', { body: { tenant_id: tenantId, name } }),
    onDone: (_, { tenantId }) => void navigate({ to: '/t/$tenantId/subjects', params: { tenantId } }),
  });
  return (
    <Section title={TEXT.create}>
      <Form form={form} submit={TEXT.make} hasCurl={false}>
        <TextField label={TEXT.newId} required {...form.text('tenantId')} />
        <TextField label={TEXT.newName} required {...form.text('name')} />
      </Form>
    </Section>
  );
}
