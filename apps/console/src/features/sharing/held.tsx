import type { api } from '@identity-state/client';
import { apiCall } from '../../app/api.ts';
import { useMayUseGrants } from '../../app/rights.ts';
import { GRANTOR, MAY_READ, PURPOSE, UNTIL } from '../../entities/grant.tsx';
import { grantedSubjectColumn, keyOfSubject, NoGrantsUsed } from '../../entities/subject.tsx';
import { TextFilter, useFilters } from '../../forms/filters.tsx';
import { List } from '../../forms/list-page.tsx';
import { orQuiet } from '../../ui/table/table.tsx';
import { TEXT } from './words.ts';

/** Lists the subjects of other tenants that this tenant may read. */
export function Held({ tenantId }: { tenantId: string }) {
  const q = useFilters().search['find']?.trim() ?? '';
  const mayUse = useMayUseGrants(tenantId);
  const call = apiCall('GET', '/v1/tenants/{tenant_id}/accessible-subjects', {
    path: { tenant_id: tenantId },
    query: { q: q === '' ? undefined : q.slice(0, 128) },
  });
  if (mayUse === false) return <NoGrantsUsed />;
  const text = (
    <>
      {TEXT.noneHeldText} <code>{tenantId}</code>
    </>
  );
  return (
    <List
      filters={<TextFilter name="find" label={TEXT.heldFind} maxLength={128} placeholder={TEXT.heldFindHint} />}
      caption={TEXT.heldCaption}
      call={mayUse === true ? call : null}
      keyOf={keyOfSubject}
      empty={q === '' ? { title: TEXT.noneHeld, text } : { title: TEXT.noneHeldFound }}
      columns={[
        grantedSubjectColumn(tenantId),
        GRANTOR,
        MAY_READ,
        UNTIL,
        PURPOSE,
        orQuiet(
          TEXT.latest,
          ({ latest_snapshot: latest }: api.AccessibleSubject) => latest?.snapshot_version,
          TEXT.notShown,
        ),
      ]}
    />
  );
}
