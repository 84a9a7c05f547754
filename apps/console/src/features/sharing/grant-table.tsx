import { apiCall, type PagedList as ListOf, tenantPath } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import {
  GRANT,
  type Grant,
  GRANTEE,
  isOnAll,
  isRunning,
  MAY_READ,
  PURPOSE,
  STATUS,
  subjectColumn,
  untilColumn,
} from '../../entities/grant.tsx';
import { List } from '../../forms/list-page.tsx';
import { ChangeGrant, GrantProof, OF_GRANT } from './dialogs.tsx';
import { TEXT } from './words.ts';

interface GrantTableProps {
  tenantId: string;
  /** The grants of the list that are shown. */
  grants: readonly Grant[];
  list: ListOf<Grant>;
  caption: string;
}

/** Lists grants with their actions: change or revoke a live or scheduled grant, and show its proof. */
export function GrantTable({ tenantId, grants, list, caption }: GrantTableProps) {
  const may = useMay(tenantId);
  const onLive = (grant: Grant, route: '' | '/revoke'): boolean =>
    isRunning(grant) && may(route === '' ? `PATCH ${OF_GRANT}` : `POST ${OF_GRANT}${route}`);
  return (
    <List
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
      ]}
      empty={null}
      changes={[tenantPath(tenantId)]}
      rowActions={[
        {
          label: TEXT.change,
          nameOf: ({ grantee_tenant_id: grantee }) => TEXT.changeOf(grantee),
          isOffered: (grant) => onLive(grant, ''),
          dialog: (grant, close) => <ChangeGrant tenantId={tenantId} grant={grant} onClose={close} />,
        },
        {
          label: TEXT.revoke,
          nameOf: ({ grantee_tenant_id: grantee }) => TEXT.revokeOf(grantee),
          kind: 'danger',
          isOffered: (grant) => onLive(grant, '/revoke'),
          question: ({ grantee_tenant_id: grantee, grant_id, ...of }) => ({
            title: TEXT.revoking.title(grantee),
            text: TEXT.revoking.text(isOnAll(of) ? GRANT.allSubjects.toLowerCase() : of.subject_id, grantee),
            call: apiCall('POST', `${OF_GRANT}/revoke`, { path: { tenant_id: tenantId, grant_id } }),
          }),
        },
        {
          label: TEXT.proof,
          nameOf: ({ grantee_tenant_id: grantee }) => TEXT.proofOf(grantee),
          kind: 'plain',
          dialog: (grant, close) => <GrantProof tenantId={tenantId} grant={grant} onClose={close} />,
        },
      ]}
    />
  );
}
