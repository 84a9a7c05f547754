import type { api } from '@identity-state/client';
import { apiCall } from '../../app/api.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import { orQuiet } from '../../ui/table/table.tsx';
import { LogProofDialog } from '../sharing/log-proof.tsx';
import { TEXT } from './words.ts';

type OwnerChange = api.OwnerChange;

const WORDS = TEXT.owners;
const HISTORY = '/v1/tenants/{tenant_id}/owner-history';

/** Lists the changes of the tenant's owner, with their log indexes. */
export function Owners({ tenantId }: { tenantId: string }) {
  const path = { tenant_id: tenantId };
  return (
    <ListSection
      title={TEXT.tabs.owners}
      note={WORDS.text}
      caption={WORDS.caption}
      call={apiCall('GET', HISTORY, { path })}
      keyOf={({ changed_at: at, principal_id: to, from_principal_id: from }) => `${at} ${from} ${to}`}
      empty={{ title: WORDS.empty }}
      columns={[
        { title: WORDS.when, isHeader: true, at: ({ changed_at: at }) => at },
        whoColumn(WORDS.became, (change: OwnerChange) => change.principal_id, WORDS.nobody),
        whoColumn(WORDS.ceased, (change: OwnerChange) => change.from_principal_id, WORDS.nobody),
        orQuiet(WORDS.log, (change: OwnerChange) => change.log_index, WORDS.notYet),
      ]}
      rowActions={[
        {
          label: WORDS.proof,
          nameOf: ({ log_index: index }) => WORDS.proofOf(index ?? 0),
          kind: 'plain',
          isOffered: ({ log_index: index }) => index !== null,
          dialog: ({ log_index: index, principal_id, from_principal_id, changed_at }, close) => (
            <LogProofDialog
              tenantId={tenantId}
              call={apiCall('GET', `${HISTORY}/{log_index}/log-proof`, { path: { ...path, log_index: index ?? 0 } })}
              expected={{ type: 'tenant.owner_changed', ...path, principal_id, from_principal_id, changed_at }}
              onClose={close}
            />
          ),
        },
      ]}
    />
  );
}
