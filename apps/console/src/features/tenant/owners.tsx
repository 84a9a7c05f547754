import { useState } from 'react';
import type { api } from '@identity-state/client';
import { tenantPath, useList } from '../../app/api.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { Who } from '../../entities/who.tsx';
import { LogProofDialog } from '../sharing/log-proof.tsx';
import styles from './tenant.module.css';

const WORDS = TEXT.owners;

/** Lists the changes of the tenant's owner, with their log indexes. */
export function Owners({ tenantId }: { tenantId: string }) {
  const path = tenantPath(tenantId, 'owner-history');
  const list = useList<api.OwnerChange>(path);
  const [proved, setProved] = useState<api.OwnerChange | null>(null);
  const nobody = <span className={styles.quiet}>{WORDS.nobody}</span>;
  return (
    <Section title={TEXT.tabs.owners}>
      <div className={styles.stack}>
        <p className={styles.quiet}>{WORDS.text}</p>
        <ListTable
          caption={WORDS.caption}
          list={list}
          keyOf={({ changed_at: at, principal_id: to, from_principal_id: from }) => `${at} ${from} ${to}`}
          empty={<Empty title={WORDS.empty} />}
          columns={[
            { title: WORDS.when, isHeader: true, at: ({ changed_at: at }) => at },
            {
              title: WORDS.became,
              value: ({ principal_id: to }) => to,
              cell: ({ principal_id: to }) => (to === null ? nobody : <Who id={to} />),
            },
            {
              title: WORDS.ceased,
              value: ({ from_principal_id: from }) => from,
              cell: ({ from_principal_id: from }) => (from === null ? nobody : <Who id={from} />),
            },
            {
              title: WORDS.log,
              value: ({ log_index: index }) => index,
              cell: ({ log_index: index }) => index ?? <span className={styles.quiet}>{WORDS.notYet}</span>,
            },
            {
              title: TEXT.actions,
              cell: (change) =>
                change.log_index !== null && (
                  <Button
                    small
                    kind="plain"
                    aria-label={WORDS.proofOf(change.log_index)}
                    onClick={() => setProved(change)}
                  >
                    {WORDS.proof}
                  </Button>
                ),
            },
          ]}
        />
      </div>
      {proved !== null && (
        <LogProofDialog
          tenantId={tenantId}
          path={`${path}/${proved.log_index}/log-proof`}
          expected={{
            type: 'tenant.owner_changed',
            principal_id: proved.principal_id,
            from_principal_id: proved.from_principal_id,
            changed_at: proved.changed_at,
          }}
          onClose={() => setProved(null)}
        />
      )}
    </Section>
  );
}
