import type { List } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import {
  GRANT,
  type Grant,
  GRANTEE,
  MAY_READ,
  PURPOSE,
  STATUS,
  subjectColumn,
  untilColumn,
} from '../../entities/grant.tsx';
import { useRowActions } from '../../forms/row-actions.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { ChangeGrant, GrantProof, RevokeGrant } from './dialogs.tsx';
import { TEXT } from './words.ts';

interface GrantTableProps {
  tenantId: string;
  /** The grants of the list that are shown. */
  grants: readonly Grant[];
  list: List<Grant>;
  caption: string;
}

/** Lists grants with their actions: change or revoke a live grant, and show its proof. */
export function GrantTable({ tenantId, grants, list, caption }: GrantTableProps) {
  const may = useMay(tenantId);
  const [actions, dialog] = useRowActions<Grant>(TEXT.actions, [
    {
      label: TEXT.change,
      nameOf: ({ grantee_tenant_id: grantee }) => TEXT.changeOf(grantee),
      isOffered: ({ status }) => status === 'active' && may('PATCH /v1/tenants/{tenant_id}/grants/{grant_id}'),
      dialog: (grant, close) => <ChangeGrant tenantId={tenantId} grant={grant} onClose={close} />,
    },
    {
      label: TEXT.revoke,
      nameOf: ({ grantee_tenant_id: grantee }) => TEXT.revokeOf(grantee),
      kind: 'danger',
      isOffered: ({ status }) => status === 'active' && may('POST /v1/tenants/{tenant_id}/grants/{grant_id}/revoke'),
      dialog: (grant, close) => <RevokeGrant tenantId={tenantId} grant={grant} onClose={close} />,
    },
    {
      label: TEXT.proof,
      nameOf: ({ grantee_tenant_id: grantee }) => TEXT.proofOf(grantee),
      kind: 'plain',
      dialog: (grant, close) => <GrantProof tenantId={tenantId} grant={grant} onClose={close} />,
    },
  ]);
  return (
    <>
      <ListTable
        caption={caption}
        list={{ ...list, items: grants, error: null }}
        keyOf={({ grant_id: id }) => id}
        columns={[
          GRANTEE,
          subjectColumn(tenantId),
          STATUS,
          MAY_READ,
          untilColumn(GRANT.until, ({ expires_at: end, revoked_at: revoked }: Grant) => revoked ?? end),
          PURPOSE,
          actions,
        ]}
        empty={null}
      />
      {dialog}
    </>
  );
}
