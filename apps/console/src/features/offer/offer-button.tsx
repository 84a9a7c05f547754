import { lazy, Suspense } from 'react';
import type { Snapshot } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { useMay } from '../../app/rights.ts';
import type { SubjectAccess } from '../../entities/subject-access.ts';
import { DialogButton } from '../../forms/row-actions.tsx';
import { TEXT } from './words.ts';

const OfferDialog = lazy(() => import('./offer-dialog.tsx'));

/** A button that offers a credential of a version to a wallet. Admins of the owner, and of grantees with `issue_view`, see it. */
export function OfferButton({ snapshot, access }: { snapshot: Snapshot; access: SubjectAccess }) {
  const { tenantId } = useSubject();
  const may = useMay(tenantId);
  if (!access.may('issue_view') || !may('POST /v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credential-offers')) {
    return null;
  }
  return (
    <DialogButton small label={TEXT.button}>
      {(close) => (
        <Suspense>
          <OfferDialog tenantId={tenantId} snapshot={snapshot} isOwner={access.isOwner} onClose={close} />
        </Suspense>
      )}
    </DialogButton>
  );
}
