import type { api } from '@identity-state/client';
import { apiCall, tenantPath, useList } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller } from '../../app/rights.ts';
import { GRANTEE, MAY_READ, PURPOSE, UNTIL, untilColumn } from '../../entities/grant.tsx';
import { whoColumn } from '../../entities/principal.tsx';
import { List } from '../../forms/list-page.tsx';
import { Notice } from '../../ui/page.tsx';
import { TEXT } from './words.ts';

type PendingGrant = api.PendingGrant;

const WORDS = TEXT.pending;
const PENDING = '/v1/tenants/{tenant_id}/pending-grants';

/** Shows an admin the grants on all subjects that wait for a second human. The requester cannot confirm its own. */
export function PendingGrants({ tenantId }: { tenantId: string }) {
  const { subject } = useSession();
  const path = { tenant_id: tenantId };
  const list = useList(apiCall('GET', PENDING, { path }));
  const end = (how: 'confirm' | 'cancel') => ({
    label: WORDS[how],
    call: ({ grant_id }: PendingGrant) =>
      apiCall('POST', `${PENDING}/{grant_id}/${how}`, { path: { ...path, grant_id } }),
  });
  const items = list.items.filter(({ status }) => status === 'pending');
  if (items.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>{WORDS.text}</p>
      <List
        caption={WORDS.caption}
        list={{ ...list, items }}
        keyOf={({ grant_id: id }) => id}
        empty={null}
        columns={[
          GRANTEE,
          MAY_READ,
          UNTIL,
          PURPOSE,
          whoColumn(WORDS.by, (grant: PendingGrant) => grant.requested_by),
          untilColumn(WORDS.confirmBy, (grant: PendingGrant) => grant.confirm_by),
        ]}
        changes={[tenantPath(tenantId)]}
        rowActions={[
          {
            ...end('confirm'),
            kind: 'danger',
            nameOf: ({ grantee_tenant_id: grantee }) => WORDS.confirmOf(grantee),
            isOffered: ({ requested_by: by }) => !isCaller(by, subject),
          },
          { ...end('cancel'), nameOf: ({ grantee_tenant_id: grantee }) => WORDS.cancelOf(grantee) },
        ]}
      />
    </Notice>
  );
}
