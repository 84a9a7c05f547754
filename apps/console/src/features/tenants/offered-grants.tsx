import type { api } from '@identity-state/client';
import { apiCall, tenantPath, useAction, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { namesOf } from '../../entities/scope-names.ts';
import { useRowActions } from '../../forms/row-actions.tsx';
import { Problem } from '../../ui/page.tsx';
import { Table } from '../../ui/table/table.tsx';
import { TEXT } from './words.ts';

/** Shows received grants on all subjects that this tenant has not accepted. An admin can accept them. */
export function OfferedGrants({ tenantId }: { tenantId: string }) {
  const may = useMay(tenantId);
  const path = { tenant_id: tenantId };
  const query = { direction: 'offered', status: 'active' } as const;
  const { items: offered } = useList(apiCall('GET', '/v1/tenants/{tenant_id}/grants', { path, query }));
  const action = useAction(tenantPath(tenantId));
  const [actions] = useRowActions<api.Grant>(TEXT.actions, [
    {
      label: TEXT.accept,
      kind: 'primary',
      nameOf: ({ grantor_tenant_id: from }) => TEXT.acceptGrantOf(from),
      isOffered: () => may('POST /v1/tenants/{tenant_id}/grants/{grant_id}/accept'),
      isPending: action.isPending,
      run: ({ grant_id }) =>
        action.mutate(
          apiCall('POST', '/v1/tenants/{tenant_id}/grants/{grant_id}/accept', { path: { ...path, grant_id } }),
        ),
    },
  ]);
  if (offered.length === 0) return null;
  return (
    <>
      <p>{TEXT.offeredText}</p>
      {action.error !== null && <Problem error={action.error} />}
      <Table
        caption={TEXT.offered}
        items={offered}
        keyOf={({ grant_id: id }) => id}
        columns={[
          { title: TEXT.id, isHeader: true, value: ({ grantor_tenant_id: id }) => id },
          { title: TEXT.scopes, value: ({ scopes }) => namesOf(scopes) },
          { title: TEXT.purpose, value: ({ purpose }) => purpose },
          actions,
        ]}
      />
    </>
  );
}
