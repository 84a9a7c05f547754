import type { api } from '@identity-state/client';
import { apiCall, useAction, useInvitations } from '../../app/api.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { ConfirmCall } from '../../forms/form.tsx';
import { useRowActions } from '../../forms/row-actions.tsx';
import { Empty, Problem, Section } from '../../ui/page.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { TEXT } from './words.ts';

type Invitation = api.Invitation;

/** Paths whose responses depend on the caller's memberships. */
export const OF_MEMBERSHIPS = ['/v1/tenants', '/v1/invitations', '/v1/blocked-tenants'] as const;
/** The path of the caller's membership in calls. */
export const MEMBERSHIP = '/v1/tenants/{tenant_id}/membership';

/** Shows the invitations of the caller, or only those of one tenant, and answers them. */
export default function Invitations({ tenantId }: { tenantId?: string }) {
  const list = useInvitations();
  const action = useAction(...OF_MEMBERSHIPS);
  const answer = (how: 'accept' | 'leave') => ({
    isPending: action.isPending,
    run: ({ tenant_id }: Invitation) => action.mutate(apiCall('POST', `${MEMBERSHIP}/${how}`, { path: { tenant_id } })),
  });
  const [actions, dialog] = useRowActions<Invitation>(TEXT.actions, [
    { ...answer('accept'), label: TEXT.accept, kind: 'primary', nameOf: ({ tenant_id: id }) => TEXT.acceptOf(id) },
    { ...answer('leave'), label: TEXT.decline, nameOf: ({ tenant_id: id }) => TEXT.declineOf(id) },
    {
      label: TEXT.block,
      kind: 'danger',
      nameOf: ({ tenant_id: id }) => TEXT.blockOf(id),
      dialog: ({ tenant_id }, close) => (
        <ConfirmCall
          title={TEXT.blockTitle(tenant_id)}
          confirm={TEXT.block}
          call={apiCall('PUT', `${MEMBERSHIP}/block`, { path: { tenant_id } })}
          changes={OF_MEMBERSHIPS}
          onClose={close}
        >
          <p>{TEXT.blockText}</p>
        </ConfirmCall>
      ),
    },
  ]);
  const items = tenantId === undefined ? list.items : list.items.filter((one) => one.tenant_id === tenantId);
  if (tenantId !== undefined && items.length === 0) return null;
  return (
    <Section title={TEXT.invitations}>
      <p>{TEXT.invitationsText}</p>
      {action.error !== null && <Problem error={action.error} />}
      <ListTable
        caption={TEXT.invitations}
        list={{ ...list, items }}
        keyOf={({ tenant_id: id }) => id}
        empty={<Empty title={TEXT.noInvitations} />}
        columns={[
          { title: TEXT.id, isHeader: true, value: ({ tenant_id: id }) => id },
          { title: TEXT.name, value: ({ name }) => name },
          { title: TEXT.role, value: ({ api_functional_role: role }) => role },
          whoColumn(TEXT.from, ({ invited_by: by }: Invitation) => by ?? TEXT.service),
          { title: TEXT.at, at: ({ invited_at: at }) => at },
          actions,
        ]}
      />
      {dialog}
    </Section>
  );
}
