import { memo, type ReactNode } from 'react';
import type { api } from '@identity-state/client';
import { type ApiCall, type Page, useWholeList } from '../../app/api.ts';
import { GRANT, subjectColumn } from '../../entities/grant.tsx';
import { whoColumn } from '../../entities/principal.tsx';
import { PeriodFilter, TextFilter } from '../../forms/filters.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import { Plot } from '../../ui/plot/plot.tsx';
import { type Column, hashColumn, orQuiet } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { TEXT } from './words.ts';

export type Disclosure = api.Disclosure;

/** The number of disclosures that are counted and plotted. */
export const MOST_DISCLOSURES = 2_000;
const DAY_MS = 86_400_000;
const LEAST_DAYS = 14;
const MOST_DAYS = 366;
const NO_CONTENT: ReadonlySet<Disclosure['via']> = new Set(['headers', 'proof']);

interface DisclosuresProps {
  call: ApiCall<Page<Disclosure>>;
  /** The tenant that was shown the versions; null for the disclosures of one subject. */
  readerId: string | null;
  actions?: ReactNode;
  words: {
    readonly title: string;
    readonly note: string;
    readonly caption: string;
    readonly empty: string;
    readonly emptyText?: string;
    readonly emptyFiltered?: string;
  };
}

/** Lists disclosures. Memoized, since the slider above the list changes the address. */
export const DisclosureList = memo(function DisclosureList({ call, readerId, actions, words }: DisclosuresProps) {
  const isFiltered = Object.entries(call.query ?? {}).some(([name, value]) => name !== 'limit' && value !== undefined);
  const list = useWholeList(call, MOST_DISCLOSURES);
  const empty = isFiltered
    ? { title: words.emptyFiltered ?? words.empty }
    : { title: words.empty, ...(words.emptyText === undefined ? {} : { text: words.emptyText }) };
  return (
    <ListSection
      title={words.title}
      note={words.note}
      actions={actions}
      filters={
        <>
          <PeriodFilter from={TEXT.fromDay} to={TEXT.toDay} />
          {readerId === null && <TextFilter name="grantee" label={GRANT.grantee} />}
        </>
      }
      plot={list.items.length > 0 && <DisclosurePlot items={list.items} isWhole={list.isWhole} />}
      caption={words.caption}
      list={list}
      keyOf={keyOfDisclosure}
      columns={columnsOf(readerId)}
      empty={empty}
    />
  );
});

/** Plots the disclosures of each day, including days without any. */
function DisclosurePlot({ items, isWhole }: { items: readonly Disclosure[]; isWhole: boolean }) {
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
      <p className={ui.quiet}>
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

export function keyOfDisclosure(disclosure: Disclosure): string {
  return JSON.stringify(disclosure);
}

function columnsOf(readerId: string | null): Column<Disclosure>[] {
  return [
    { title: TEXT.day, isHeader: true, at: ({ first_at: at }) => at },
    readerId === null
      ? { title: TEXT.tenant, value: ({ grantee_tenant_id: tenant }) => tenant }
      : subjectColumn(readerId),
    whoColumn(TEXT.reader, (disclosure) => disclosure.principal_id),
    {
      title: TEXT.versions,
      value: ({ from_version: from, to_version: to }) => (from === to ? from : `${from} – ${to}`),
    },
    orQuiet(TEXT.parts.shown, ({ paths }: Disclosure) => paths?.join(', '), GRANT.everything),
    { title: TEXT.via, value: ({ via }) => TEXT.vias[via] },
    hashColumn(TEXT.request, ({ request_id: id }) => id, 8),
  ];
}
