import { useState } from 'react';
import type { api } from '@identity-state/client';
import { tenantPath, useAction, useInvitations } from '../../app/api.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Empty } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { Who } from '../../entities/principal.tsx';
import ui from '../../ui/ui.module.css';

/** Paths whose responses depend on the caller's memberships. */
export const OF_MEMBERSHIPS = ['/v1/tenants', '/v1/invitations', '/v1/blocked-tenants'] as const;

/** Shows the invitations of the caller, or only those of one tenant, and answers them. */
export default function Invitations({ tenantId }: { tenantId?: string }) {
  const list = useInvitations();
  const action = useAction(...OF_MEMBERSHIPS);
  const [blocking, setBlocking] = useState<string | null>(null);
  const items = tenantId === undefined ? list.items : list.items.filter((one) => one.tenant_id === tenantId);
  if (tenantId !== undefined && items.length === 0) return null;
  const answer = (to: api.Invitation, move: 'accept' | 'leave'): void =>
    action.mutate({ method: 'POST', path: tenantPath(to.tenant_id, 'membership', move) });
  return (
    <Section title={TEXT.invitations}>
      <p>{TEXT.invitationsText}</p>
      {action.error !== null && blocking === null && <Problem error={action.error} />}
      <ListTable
        caption={TEXT.invitations}
        list={{ ...list, items }}
        keyOf={({ tenant_id: id }) => id}
        empty={<Empty title={TEXT.noInvitations} />}
        columns={[
          { title: TEXT.id, isHeader: true, value: ({ tenant_id: id }) => id },
          { title: TEXT.name, value: ({ name }) => name },
          { title: TEXT.role, value: ({ api_functional_role: role }) => role },
          {
            title: TEXT.from,
            value: ({ invited_by: by }) => by ?? TEXT.service,
            cell: ({ invited_by: by }) => <Who id={by ?? TEXT.service} />,
          },
          { title: TEXT.at, at: ({ invited_at: at }) => at },
          {
            title: TEXT.actions,
            cell: (one) => (
              <span className={ui.filters}>
                <Button
                  small
                  kind="primary"
                  aria-label={TEXT.acceptOf(one.tenant_id)}
                  isPending={action.isPending}
                  onClick={() => answer(one, 'accept')}
                >
                  {TEXT.accept}
                </Button>
                <Button
                  small
                  aria-label={TEXT.declineOf(one.tenant_id)}
                  isPending={action.isPending}
                  onClick={() => answer(one, 'leave')}
                >
                  {TEXT.decline}
                </Button>
                <Button
                  small
                  kind="danger"
                  aria-label={TEXT.blockOf(one.tenant_id)}
                  onClick={() => setBlocking(one.tenant_id)}
                >
                  {TEXT.block}
                </Button>
              </span>
            ),
          },
        ]}
      />
      {blocking !== null && (
        <Confirm
          title={TEXT.blockTitle(blocking)}
          confirm={TEXT.block}
          isOpen
          isPending={action.isPending}
          error={action.error}
          onConfirm={() =>
            action.mutate(
              { method: 'PUT', path: tenantPath(blocking, 'membership', 'block') },
              { onSuccess: () => setBlocking(null) },
            )
          }
          onClose={() => setBlocking(null)}
        >
          <p>{TEXT.blockText}</p>
        </Confirm>
      )}
    </Section>
  );
}
