import type { api } from '@identity-state/client';
import { apiCall, tenantPath, useAction, useList } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller } from '../../app/rights.ts';
import { GRANTEE, MAY_READ, PURPOSE, UNTIL, untilColumn } from '../../entities/grant.tsx';
import { whoColumn } from '../../entities/principal.tsx';
import { useRowActions } from '../../forms/row-actions.tsx';
import { Notice, Problem } from '../../ui/page.tsx';
import { Table } from '../../ui/table/table.tsx';
import { TEXT } from './words.ts';

type PendingGrant = api.PendingGrant;

const WORDS = TEXT.pending;
const PENDING = '/v1/tenants/{tenant_id}/pending-grants';

/** Shows an admin the grants on all subjects that wait for a second human. The requester cannot confirm its own. */
export function PendingGrants({ tenantId }: { tenantId: string }) {
  const { subject } = useSession();
  const path = { tenant_id: tenantId };
  const { items } = useList(apiCall('GET', PENDING, { path }));
  const action = useAction(tenantPath(tenantId));
  const end = (how: 'confirm' | 'cancel') => ({
    label: WORDS[how],
    isPending: action.isPending,
    run: ({ grant_id }: PendingGrant) =>
      action.mutate(apiCall('POST', `${PENDING}/{grant_id}/${how}`, { path: { ...path, grant_id } })),
  });
  const [actions] = useRowActions<PendingGrant>(TEXT.actions, [
    {
      ...end('confirm'),
      kind: 'danger',
      nameOf: ({ grantee_tenant_id: grantee }) => WORDS.confirmOf(grantee),
      isOffered: ({ requested_by: by }) => !isCaller(by, subject),
    },
    { ...end('cancel'), nameOf: ({ grantee_tenant_id: grantee }) => WORDS.cancelOf(grantee) },
  ]);
  const pending = items.filter(({ status }) => status === 'pending');
  if (pending.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>{WORDS.text}</p>
      {action.error !== null && <Problem error={action.error} />}
      <Table
        caption={WORDS.caption}
        items={pending}
        keyOf={({ grant_id: id }) => id}
        columns={[
          GRANTEE,
          MAY_READ,
          UNTIL,
          PURPOSE,
          whoColumn(WORDS.by, (grant: PendingGrant) => grant.requested_by),
          untilColumn(WORDS.confirmBy, (grant: PendingGrant) => grant.confirm_by),
          actions,
        ]}
      />
    </Notice>
  );
}
