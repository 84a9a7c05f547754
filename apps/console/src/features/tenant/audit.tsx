import type { ReactNode } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { tenantPath, useList } from '../../app/api.ts';
import { ACTIONS, TEXT } from './words.ts';
import { Select } from '../../ui/field.tsx';
import { FilterField } from '../../forms/filter-field.tsx';
import { Hash } from '../../ui/hash.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { Who } from '../../entities/who.tsx';
import ui from '../../ui/ui.module.css';
import styles from './tenant.module.css';

type AuditRecord = api.AuditRecord;

const WORDS = TEXT.audit;
const PRINCIPAL = /^oidc:[^#]{1,255}#.{1,255}$/;

/** Shows the audit trail, filtered by action, principal and time. */
export function Audit({ tenantId }: { tenantId: string }) {
  const { action, principal, from, to } = useSearch({ from: '/signed-in/t/$tenantId/tenant' });
  const navigate = useNavigate({ from: '/t/$tenantId/tenant' });
  const set = (change: { action?: string; principal?: string; from?: string; to?: string }): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  // An incomplete principal id is not sent.
  const isWhole = principal !== undefined && PRINCIPAL.test(principal);
  const query = {
    ...(action === undefined ? {} : { action }),
    ...(isWhole ? { principal_id: principal } : {}),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const list = useList<AuditRecord>(tenantPath(tenantId, 'audit'), query);
  return (
    <Section title={TEXT.tabs.audit}>
      <div className={styles.stack}>
        <p className={styles.quiet}>{WORDS.text}</p>
        <div className={ui.filters}>
          <Select
            label={WORDS.action}
            value={action ?? ''}
            options={[
              { value: '', label: TEXT.any },
              ...Object.entries(ACTIONS).map(([value, label]) => ({ value, label })),
            ]}
            onChange={(event) => set({ action: event.target.value })}
          />
          <FilterField
            label={WORDS.principal}
            placeholder={WORDS.principalHint}
            value={principal}
            onChange={(text) => set({ principal: text })}
          />
          <FilterField type="date" label={TEXT.from} value={from} onChange={(day) => set({ from: day })} />
          <FilterField type="date" label={TEXT.to} value={to} onChange={(day) => set({ to: day })} />
        </div>
        <AuditTable
          list={list}
          caption={WORDS.caption}
          empty={<Empty title={Object.keys(query).length === 0 ? WORDS.empty : WORDS.emptyFiltered} />}
        />
      </div>
    </Section>
  );
}

export function AuditTable({
  list,
  caption,
  empty,
}: {
  list: ReturnType<typeof useList<AuditRecord>>;
  caption: string;
  empty: ReactNode;
}) {
  return (
    <ListTable
      caption={caption}
      list={list}
      keyOf={({ audit_id: id }) => String(id)}
      empty={empty}
      columns={[
        { title: WORDS.when, isHeader: true, at: ({ at }) => at },
        { title: WORDS.action, value: ({ action }) => ACTIONS[action] },
        {
          title: WORDS.who,
          value: ({ principal_id: id }) => id ?? WORDS.service,
          cell: ({ principal_id: id }) =>
            id === null ? <span className={styles.quiet}>{WORDS.service}</span> : <Who id={id} />,
        },
        {
          title: WORDS.on,
          value: ({ target }) => Object.values(target).join(' '),
          cell: ({ target }) => <Target of={target} />,
        },
        {
          title: WORDS.changed,
          value: ({ details }) => JSON.stringify(details),
          cell: ({ details }) => <Changes of={details} />,
        },
        {
          title: WORDS.request,
          value: ({ request_id: id }) => id,
          cell: ({ request_id: id }) => id !== null && <Hash value={id} length={8} />,
        },
      ]}
    />
  );
}

function Target({ of }: { of: AuditRecord['target'] }) {
  return (
    <ul className={styles.changes}>
      {Object.entries(of).map(([name, value]) => (
        <li key={name}>
          <span className={styles.quiet}>{name}</span> {value}
        </li>
      ))}
    </ul>
  );
}

/** Shows the previous and new value of each changed member. A new member has no previous value. */
function Changes({ of }: { of: AuditRecord['details'] }) {
  return (
    <ul className={styles.changes}>
      {Object.entries(of).map(([name, { before, after }]) => (
        <li key={name}>
          <span className={styles.quiet}>{name}</span> {before !== null && <del>{shown(before)}</del>}{' '}
          {after === null ? <span className={styles.quiet}>{WORDS.nothing}</span> : <ins>{shown(after)}</ins>}
        </li>
      ))}
    </ul>
  );
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(shown).join(', ');
  return JSON.stringify(value) ?? WORDS.nothing;
}
