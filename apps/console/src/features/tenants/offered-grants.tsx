import { apiCall, tenantPath, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { scopeNames } from '../../entities/scope-names.ts';
import { List } from '../../forms/list-page.tsx';
import { TEXT } from './words.ts';

const ACCEPT = '/v1/tenants/{tenant_id}/grants/{grant_id}/accept';

/** Shows received grants on all subjects that this tenant has not accepted. An admin can accept them. */
export function OfferedGrants({ tenantId }: { tenantId: string }) {
  const may = useMay(tenantId);
  const path = { tenant_id: tenantId };
  const query = { direction: 'offered', status: 'active' } as const;
  const list = useList(apiCall('GET', '/v1/tenants/{tenant_id}/grants', { path, query }));
  if (list.items.length === 0) return null;
  return (
    <>
      <p>{TEXT.offeredText}</p>
      <List
        caption={TEXT.offered}
        list={list}
        keyOf={({ grant_id: id }) => id}
        empty={null}
        columns={[
          { title: TEXT.id, isHeader: true, value: ({ grantor_tenant_id: id }) => id },
          { title: TEXT.scopes, value: ({ scopes }) => scopeNames(scopes) },
          { title: TEXT.purpose, value: ({ purpose }) => purpose },
        ]}
        changes={[tenantPath(tenantId)]}
        rowActions={[
          {
            label: TEXT.accept,
            kind: 'primary',
            nameOf: ({ grantor_tenant_id: from }) => TEXT.acceptGrantOf(from),
            isOffered: () => may(`POST ${ACCEPT}`),
            call: ({ grant_id }) => apiCall('POST', ACCEPT, { path: { ...path, grant_id } }),
          },
        ]}
      />
    </>
  );
}
