import type { ReactNode } from 'react';
import type { api } from '@identity-state/client';
import { apiCall } from '../../app/api.ts';
import { isPrincipal } from '../../entities/principal-name.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { ChoiceFilter, keyIn, PeriodFilter, TextFilter, useFilters } from '../../forms/filters.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import { type Column, hashColumn } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { ACTIONS, TEXT } from './words.ts';
import styles from './styles.module.css';

type AuditRecord = api.AuditRecord;

const WORDS = TEXT.audit;

/** Shows the audit trail, filtered by action, principal and time. */
export function AuditTrail({ tenantId }: { tenantId: string }) {
  const { action, principal = '', from, to } = useFilters().search;
  // An incomplete principal id is not sent.
  const principalId = isPrincipal(principal) ? principal : undefined;
  const query = { action: keyIn(ACTIONS, action), principal_id: principalId, from, to };
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  return (
    <ListSection
      title={TEXT.tabs.audit}
      note={WORDS.text}
      filters={
        <>
          <ChoiceFilter name="action" label={WORDS.action} options={{ '': TEXT.any, ...ACTIONS }} />
          <TextFilter name="principal" label={WORDS.principal} placeholder={WORDS.principalHint} />
          <PeriodFilter from={TEXT.from} to={TEXT.to} />
        </>
      }
      caption={WORDS.caption}
      call={apiCall('GET', '/v1/tenants/{tenant_id}/audit', { path: { tenant_id: tenantId }, query })}
      keyOf={keyOfRecord}
      empty={{ title: isFiltered ? WORDS.emptyFiltered : WORDS.empty }}
      columns={AUDIT_COLUMNS}
    />
  );
}

export function keyOfRecord({ audit_id: id }: AuditRecord): string {
  return String(id);
}

export const AUDIT_COLUMNS: readonly Column<AuditRecord>[] = [
  { title: WORDS.when, isHeader: true, at: ({ at }) => at },
  { title: WORDS.action, value: ({ action }) => ACTIONS[action] },
  whoColumn(WORDS.who, (record: AuditRecord) => record.principal_id, WORDS.service),
  {
    title: WORDS.on,
    value: ({ target }) => Object.values(target).join(' '),
    cell: ({ target }) => <Members of={target} render={(value) => value} />,
  },
  {
    title: WORDS.changed,
    value: ({ details }) => JSON.stringify(details),
    cell: ({ details }) => <Members of={details} render={changeOf} />,
  },
  hashColumn(WORDS.request, ({ request_id: id }) => id, 8),
];

function Members<T>({ of, render }: { of: Readonly<Record<string, T>>; render: (value: T) => ReactNode }) {
  return (
    <ul className={styles.changes}>
      {Object.entries(of).map(([name, value]) => (
        <li key={name}>
          <span className={ui.quiet}>{name}</span> {render(value)}
        </li>
      ))}
    </ul>
  );
}

/** Shows the previous and new value of a changed member. A new member has no previous value. */
function changeOf({ before, after }: AuditRecord['details'][string]): ReactNode {
  return (
    <>
      {before !== null && <del>{textOf(before)}</del>}{' '}
      {after === null ? <span className={ui.quiet}>{WORDS.nothing}</span> : <ins>{textOf(after)}</ins>}
    </>
  );
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return JSON.stringify(value) ?? WORDS.nothing;
}
