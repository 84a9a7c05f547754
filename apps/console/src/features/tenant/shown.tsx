import { useNavigate, useSearch } from '@tanstack/react-router';
import { tenantPath } from '../../app/api.ts';
import { useWholeList } from '../../app/whole-list.ts';
import { TEXT } from './words.ts';
import { FilterField } from '../../forms/filter-field.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import {
  type Disclosure,
  disclosureColumns,
  DisclosurePlot,
  keyOfDisclosure,
  MOST_DISCLOSURES,
} from '../sharing/disclosures.tsx';
import styles from './tenant.module.css';

const WORDS = TEXT.disclosures;

/** Lists the disclosures of other tenants' subjects to this tenant. */
export function Shown({ tenantId }: { tenantId: string }) {
  const { from, to } = useSearch({ from: '/signed-in/t/$tenantId/tenant' });
  const navigate = useNavigate({ from: '/t/$tenantId/tenant' });
  const set = (change: { from?: string; to?: string }): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const list = useWholeList<Disclosure>(
    tenantPath(tenantId, 'disclosures'),
    { limit: 200, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
    MOST_DISCLOSURES,
  );
  return (
    <Section title={TEXT.tabs.disclosures}>
      <div className={styles.stack}>
        <p className={styles.quiet}>{WORDS.text}</p>
        <div className={ui.filters}>
          <FilterField type="date" label={TEXT.from} value={from} onChange={(day) => set({ from: day })} />
          <FilterField type="date" label={TEXT.to} value={to} onChange={(day) => set({ to: day })} />
        </div>
        {list.items.length > 0 && <DisclosurePlot items={list.items} isWhole={list.isWhole} />}
        <ListTable
          caption={WORDS.caption}
          list={list}
          keyOf={keyOfDisclosure}
          columns={disclosureColumns({ tenantId })}
          empty={<Empty title={WORDS.empty} />}
        />
      </div>
    </Section>
  );
}
