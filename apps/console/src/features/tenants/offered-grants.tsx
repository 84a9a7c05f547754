import type { api } from '@identity-state/client';
import { tenantPath, useAction, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { namesOf } from '../../entities/grant.tsx';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table } from '../../ui/table/table.tsx';

/** Shows received grants on all subjects that this tenant has not accepted. An admin can accept them. */
export function OfferedGrants({ tenantId }: { tenantId: string }) {
  const may = useMay(tenantId)('POST /v1/tenants/{tenant_id}/grants/{grant_id}/accept');
  const { items: offered } = useList<api.Grant>(tenantPath(tenantId, 'grants'), {
    direction: 'offered',
    status: 'active',
  });
  const action = useAction(tenantPath(tenantId));
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
          {
            title: TEXT.actions,
            cell: ({ grant_id: id, grantor_tenant_id: from }) =>
              may && (
                <Button
                  small
                  kind="primary"
                  aria-label={TEXT.acceptGrantOf(from)}
                  isPending={action.isPending}
                  onClick={() => action.mutate({ method: 'POST', path: tenantPath(tenantId, 'grants', id, 'accept') })}
                >
                  {TEXT.accept}
                </Button>
              ),
          },
        ]}
      />
    </>
  );
}
