import { useMemo } from 'react';
import type { api } from '@identity-state/client';
import { apiCall, useGet, useList, useWholeList } from '../../app/api.ts';
import { Filters, PeriodFilter, useFilters } from '../../forms/filters.tsx';
import { Loaded, Loading, Section } from '../../ui/page.tsx';
import { Plot } from '../../ui/plot/plot.tsx';
import { ListTable, Table } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { AUDIT_COLUMNS, keyOfRecord } from './audit.tsx';
import { TEXT } from './words.ts';

const WORDS = TEXT.usage;
const MOST_COUNTED = 1_000;
/** The caps in docs/limits.md. */
const CAPS = { members: 10_000, subscriptions: 100, toAll: 10_000 } as const;

export function UsageAndLimits({ tenantId }: { tenantId: string }) {
  return (
    <>
      <Usage tenantId={tenantId} />
      <Limits tenantId={tenantId} />
      <Archive />
    </>
  );
}

/** Says where the texts of old versions are. Shows nothing if the service has no archive. */
function Archive() {
  const archive = useGet(apiCall('GET', '/v1/ops/readiness', {})).data?.checks.archive;
  if (archive === undefined) return null;
  return (
    <Section title={WORDS.archive}>
      <p>{archive.status === 'ok' ? WORDS.archived : WORDS.archiveAway}</p>
    </Section>
  );
}

/** Plots the versions written per day, in the last 30 days or in the range of the address. */
function Usage({ tenantId }: { tenantId: string }) {
  const { from, to } = useFilters().search;
  const isWhole = from !== undefined && to !== undefined;
  const query = isWhole ? { from, to } : {};
  const usage = useGet(apiCall('GET', '/v1/tenants/{tenant_id}/usage', { path: { tenant_id: tenantId }, query }));
  return (
    <Section title={WORDS.title}>
      <div className={ui.stack}>
        <Filters>
          <PeriodFilter from={TEXT.from} to={TEXT.to} />
          {!isWhole && from !== to && <span className={ui.hint}>{WORDS.bothDays}</span>}
        </Filters>
        <Loaded query={usage}>{({ usage: days }) => <UsagePlot days={days} />}</Loaded>
      </div>
    </Section>
  );
}

function UsagePlot({ days }: { days: api.Usage['usage'] }) {
  const plotted = useMemo(
    () => ({
      times: days.map(({ date }) => Date.parse(date) / 1000),
      values: days.map(({ snapshot_writes: writes }) => writes),
    }),
    [days],
  );
  const total = plotted.values.reduce((sum, writes) => sum + writes, 0);
  const busiest = days.reduce<api.Usage['usage'][number] | undefined>(
    (most, day) => (most === undefined || day.snapshot_writes > most.snapshot_writes ? day : most),
    undefined,
  );
  const busy = days.filter(({ snapshot_writes: writes }) => writes > 0);
  return (
    <>
      <Plot
        title={WORDS.plot}
        times={plotted.times}
        series={[{ label: WORDS.series, colour: '--accent', values: plotted.values, kind: 'bars' }]}
      >
        <p className={ui.quiet}>{WORDS.said(total, days.length, busiest?.snapshot_writes ?? 0, busiest?.date ?? '')}</p>
      </Plot>
      {busy.length > 0 && (
        <Table
          caption={WORDS.table}
          items={busy.toReversed()}
          keyOf={({ date }) => date}
          columns={[
            { title: WORDS.day, isHeader: true, value: ({ date }) => date },
            {
              title: WORDS.series,
              value: ({ snapshot_writes: writes }) => writes,
            },
          ]}
        />
      )}
    </>
  );
}

function Limits({ tenantId }: { tenantId: string }) {
  const path = { tenant_id: tenantId };
  const limit = MOST_COUNTED;
  const members = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/principals', { path, query: { status: 'active', limit } }),
  );
  const subscriptions = useList(apiCall('GET', '/v1/webhook-subscriptions', { query: { tenant_id: tenantId, limit } }));
  const grants = useWholeList(
    apiCall('GET', '/v1/tenants/{tenant_id}/grants', { path, query: { limit: 100 } }),
    MOST_COUNTED,
  );
  const changed = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/audit', { path, query: { action: 'limit.changed' } }),
  );
  const toAll = grants.items.filter(({ subject_type: type, status }) => type === '*' && status === 'active').length;
  const rows = [
    { name: WORDS.members, count: members.items.length, isMore: members.hasNextPage, most: CAPS.members },
    {
      name: WORDS.subscriptions,
      count: subscriptions.items.length,
      isMore: subscriptions.hasNextPage,
      most: CAPS.subscriptions,
    },
    { name: WORDS.toAll, count: toAll, isMore: !grants.isWhole, most: CAPS.toAll },
  ];
  const isCounted = members.data !== undefined && subscriptions.data !== undefined && grants.data !== undefined;
  return (
    <Section
      title={WORDS.limits}
      actions={
        <a href="/docs/limits" target="_blank" rel="noreferrer">
          {WORDS.about}
        </a>
      }
    >
      <div className={ui.stack}>
        <p className={ui.quiet}>{WORDS.limitsText}</p>
        {isCounted ? (
          <Table
            caption={WORDS.limitsCaption}
            items={rows}
            keyOf={({ name }) => name}
            columns={[
              { title: WORDS.limit, isHeader: true, value: ({ name }) => name },
              {
                title: WORDS.held,
                value: ({ count }) => count,
                cell: ({ count, isMore }) => (
                  <span className={ui.number}>{isMore ? WORDS.more(count) : WORDS.number(count)}</span>
                ),
              },
              {
                title: WORDS.most,
                value: ({ most }) => most,
                cell: ({ most }) => <span className={ui.number}>{WORDS.number(most)}</span>,
              },
            ]}
          />
        ) : (
          <Loading />
        )}
        {changed.items.length > 0 && (
          <>
            <h3>{WORDS.changed}</h3>
            <ListTable
              caption={WORDS.changed}
              list={changed}
              keyOf={keyOfRecord}
              columns={AUDIT_COLUMNS}
              empty={null}
            />
          </>
        )}
      </div>
    </Section>
  );
}
