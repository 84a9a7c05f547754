import type { api } from '@identity-state/client';
import { apiCall, useInvitations } from '../../app/api.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import { TEXT } from './words.ts';

type Invitation = api.Invitation;

/** Paths whose responses depend on the caller's memberships. */
export const OF_MEMBERSHIPS = ['/v1/tenants', '/v1/invitations', '/v1/blocked-tenants'] as const;
/** The path of the caller's membership in calls. */
export const MEMBERSHIP_PATH = '/v1/tenants/{tenant_id}/membership';

/** Shows the invitations of the caller, or only those of one tenant, and answers them. */
export default function Invitations({ tenantId }: { tenantId?: string }) {
  const list = useInvitations();
  const items = tenantId === undefined ? list.items : list.items.filter((one) => one.tenant_id === tenantId);
  if (tenantId !== undefined && items.length === 0) return null;
  const answer = (how: 'accept' | 'leave') => ({
    call: ({ tenant_id }: Invitation) => apiCall('POST', `${MEMBERSHIP_PATH}/${how}`, { path: { tenant_id } }),
  });
  return (
    <ListSection
      title={TEXT.invitations}
      note={TEXT.invitationsText}
      caption={TEXT.invitations}
      list={{ ...list, items }}
      keyOf={({ tenant_id: id }) => id}
      empty={{ title: TEXT.noInvitations }}
      columns={[
        { title: TEXT.id, isHeader: true, value: ({ tenant_id: id }) => id },
        { title: TEXT.name, value: ({ name }) => name },
        { title: TEXT.role, value: ({ api_functional_role: role }) => role },
        whoColumn(TEXT.from, ({ invited_by: by }: Invitation) => by ?? TEXT.service),
        { title: TEXT.at, at: ({ invited_at: at }) => at },
      ]}
      changes={OF_MEMBERSHIPS}
      rowActions={[
        { ...answer('accept'), label: TEXT.accept, kind: 'primary', nameOf: ({ tenant_id: id }) => TEXT.acceptOf(id) },
        { ...answer('leave'), label: TEXT.decline, nameOf: ({ tenant_id: id }) => TEXT.declineOf(id) },
        {
          label: TEXT.block,
          kind: 'danger',
          nameOf: ({ tenant_id: id }) => TEXT.blockOf(id),
          question: ({ tenant_id }) => ({
            title: TEXT.blockTitle(tenant_id),
            text: TEXT.blockText,
            call: apiCall('PUT', `${MEMBERSHIP_PATH}/block`, { path: { tenant_id } }),
          }),
        },
      ]}
    />
  );
}
