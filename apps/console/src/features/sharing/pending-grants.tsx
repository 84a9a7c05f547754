import type { api } from '@identity-state/client';
import { tenantPath, useAction, useList } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller } from '../../app/rights.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Notice } from '../../ui/state.tsx';
import { Table } from '../../ui/table/table.tsx';
import { Scopes, Until } from './grant-table.tsx';
import { Who } from '../../entities/who.tsx';
import styles from './sharing.module.css';

const WORDS = TEXT.pending;

/** Shows an admin the grants on all subjects that wait for a second human. The requester cannot confirm its own. */
export function PendingGrants({ tenantId }: { tenantId: string }) {
  const { subject } = useSession();
  const path = tenantPath(tenantId, 'pending-grants');
  const { items } = useList<api.PendingGrant>(path);
  const action = useAction(tenantPath(tenantId));
  const pending = items.filter(({ status }) => status === 'pending');
  if (pending.length === 0) return null;
  const end = (grantId: string, how: 'confirm' | 'cancel'): void =>
    action.mutate({ method: 'POST', path: `${path}/${grantId}/${how}` });
  return (
    <Notice tone="warn">
      <p>{WORDS.text}</p>
      {action.error !== null && <Problem error={action.error} />}
      <Table
        caption={WORDS.caption}
        items={pending}
        keyOf={({ grant_id: id }) => id}
        columns={[
          { title: TEXT.grantee, isHeader: true, cell: ({ grantee_tenant_id: grantee }) => grantee },
          { title: TEXT.mayRead, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
          { title: TEXT.until, cell: ({ expires_at: end }) => <Until at={end} /> },
          { title: TEXT.purpose, cell: ({ purpose }) => purpose ?? TEXT.noPurpose },
          { title: WORDS.by, value: ({ requested_by: by }) => by, cell: ({ requested_by: by }) => <Who id={by} /> },
          { title: WORDS.confirmBy, cell: ({ confirm_by: at }) => <Until at={at} /> },
          {
            title: TEXT.actions,
            cell: ({ grant_id: id, grantee_tenant_id: grantee, requested_by: by }) => (
              <span className={styles.buttons}>
                {!isCaller(by, subject) && (
                  <Button
                    small
                    kind="danger"
                    aria-label={WORDS.confirmOf(grantee)}
                    isPending={action.isPending}
                    onClick={() => end(id, 'confirm')}
                  >
                    {WORDS.confirm}
                  </Button>
                )}
                <Button
                  small
                  aria-label={WORDS.cancelOf(grantee)}
                  isPending={action.isPending}
                  onClick={() => end(id, 'cancel')}
                >
                  {WORDS.cancel}
                </Button>
              </span>
            ),
          },
        ]}
      />
    </Notice>
  );
}
