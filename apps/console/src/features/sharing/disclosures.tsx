import type { api } from '@identity-state/client';
import { TEXT } from './words.ts';
import { Hash } from '../../ui/hash.tsx';
import { Plot } from '../../ui/plot/plot.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { Who } from '../../entities/who.tsx';
import { SubjectOf, subjectText } from './grant-table.tsx';
import styles from './sharing.module.css';

export type Disclosure = api.Disclosure;

/** The number of disclosures that are counted and plotted. */
export const MOST_DISCLOSURES = 2_000;
const DAY_MS = 86_400_000;
const LEAST_DAYS = 14;
const MOST_DAYS = 366;
const NO_CONTENT: ReadonlySet<Disclosure['via']> = new Set(['headers', 'proof']);

/** Plots the disclosures of each day, including days without any. */
export function DisclosurePlot({ items, isWhole }: { items: readonly Disclosure[]; isWhole: boolean }) {
  const days = daysOf(items);
  const count = (withContent: boolean): number[] =>
    days.map(
      (day) => items.filter(({ disclosed_on: on, via }) => on === day && NO_CONTENT.has(via) !== withContent).length,
    );
  const tenants = new Set(items.map(({ grantee_tenant_id: tenant }) => tenant)).size;
  const daysWithAny = new Set(items.map(({ disclosed_on: on }) => on)).size;
  const content = count(true);
  const all = count(false).map((number, index) => number + (content[index] ?? 0));
  return (
    <Plot
      title={TEXT.perDay}
      times={days.map((day) => Date.parse(day) / 1000)}
      series={[
        { label: TEXT.withoutContent, colour: '--line-strong', values: all, kind: 'bars' },
        { label: TEXT.withContent, colour: '--accent', values: content, kind: 'bars' },
      ]}
    >
      <p className={styles.quiet}>
        {TEXT.plotted(items.length, daysWithAny, tenants)} {!isWhole && TEXT.plottedNewest(items.length)}
      </p>
    </Plot>
  );
}

/** Returns the days of the plot: from the first day to the last one, and at least two weeks. */
export function daysOf(items: readonly Disclosure[]): string[] {
  const times = items.map(({ disclosed_on: on }) => Date.parse(on)).filter((time) => !Number.isNaN(time));
  if (times.length === 0) return [];
  const last = Math.max(...times) + DAY_MS;
  const first = Math.max(Math.min(Math.min(...times) - DAY_MS, last - LEAST_DAYS * DAY_MS), last - MOST_DAYS * DAY_MS);
  const count = (last - first) / DAY_MS + 1;
  return Array.from({ length: count }, (_, index) => new Date(first + index * DAY_MS).toISOString().slice(0, 10));
}

export function keyOfDisclosure({ disclosed_on: on, principal_id: who, via, ...rest }: Disclosure): string {
  return [
    on,
    rest.subject_type,
    rest.subject_id,
    rest.from_version,
    rest.to_version,
    rest.grantee_tenant_id,
    who,
    via,
  ].join(' ');
}

export function disclosureColumns(of: 'subject' | { readonly tenantId: string }): Column<Disclosure>[] {
  return [
    { title: TEXT.day, isHeader: true, at: ({ first_at: at }) => at },
    ...(of === 'subject'
      ? [{ title: TEXT.tenant, value: ({ grantee_tenant_id: tenant }: Disclosure) => tenant }]
      : [
          {
            title: TEXT.subject,
            value: subjectText,
            cell: (item: Disclosure) => <SubjectOf tenantId={of.tenantId} of={item} />,
          },
        ]),
    {
      title: TEXT.reader,
      value: ({ principal_id: principal }) => principal,
      cell: ({ principal_id: principal }) => <Who id={principal} />,
    },
    {
      title: TEXT.versions,
      value: ({ from_version: from, to_version: to }) => (from === to ? from : `${from} – ${to}`),
    },
    { title: TEXT.via, value: ({ via }) => TEXT.vias[via] },
    {
      title: TEXT.request,
      value: ({ request_id: id }) => id,
      cell: ({ request_id: id }) => <Hash value={id} length={8} />,
    },
  ];
}
