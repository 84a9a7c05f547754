import { Link, useNavigate } from '@tanstack/react-router';
import { apiCall, useAction, useList, useTenants } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { Form, useForm } from '../../forms/form.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import { Copy } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import Invitations, { MEMBERSHIP_PATH, OF_MEMBERSHIPS } from './invitations.tsx';
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
  return (
    <ListSection
      title={TEXT.tenants}
      caption={TEXT.tenants}
      list={useTenants()}
      keyOf={({ tenant_id: id }) => id}
      empty={{ title: TEXT.none, text: TEXT.noneText }}
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
      ]}
      changes={OF_MEMBERSHIPS}
      rowActions={[
        {
          label: TEXT.leave,
          nameOf: ({ name }) => TEXT.leaveOf(name),
          question: ({ tenant_id, name }) => ({
            title: TEXT.leaveTitle(name),
            text: TEXT.leaveText,
            call: apiCall('POST', `${MEMBERSHIP_PATH}/leave`, { path: { tenant_id } }),
          }),
        },
      ]}
    />
  );
}

function Blocked() {
  const list = useList(apiCall('GET', '/v1/blocked-tenants'));
  if (list.items.length === 0) return null;
  return (
    <ListSection
      title={TEXT.blocked}
      caption={TEXT.blocked}
      list={list}
      keyOf={({ tenant_id: id }) => id}
      empty={null}
      columns={[
        { title: TEXT.id, isHeader: true, value: ({ tenant_id: id }) => id },
        { title: TEXT.since, at: ({ blocked_at: at }) => at },
      ]}
      changes={OF_MEMBERSHIPS}
      rowActions={[
        {
          label: TEXT.unblock,
          nameOf: ({ tenant_id: id }) => TEXT.unblockOf(id),
          call: ({ tenant_id }) => apiCall('DELETE', `${MEMBERSHIP_PATH}/block`, { path: { tenant_id } }),
        },
      ]}
    />
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
