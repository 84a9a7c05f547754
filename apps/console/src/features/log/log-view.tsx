import { useMemo } from 'react';
import { type api, momentOfChange } from '@identity-state/client';
import { encodeBase64 } from '@iss/tlog';
import { useTenantId } from '../../app/address.ts';
import { apiCall, useGet } from '../../app/api.ts';
import { TrustPanel } from '../../entities/trust.tsx';
import { policyTextOf, type TrustedKeys, useTrustedKeys } from '../../entities/trusted-keys.ts';
import { Button } from '../../ui/button.tsx';
import { Copy, Hash } from '../../ui/copy.tsx';
import { download } from '../../ui/download.ts';
import { Loaded, Badge, Empty, Loading, Notice, Page, Problem, Section } from '../../ui/page.tsx';
import { Plot } from '../../ui/plot/plot.tsx';
import { Table } from '../../ui/table/table.tsx';
import { EntryCheck } from './check.tsx';
import { type CheckpointLook, type ShownSignature, useLook } from './checkpoint.ts';
import { TEXT } from './words.ts';
import styles from './log.module.css';

/** Shows the newest checkpoint of the log, whether it extends the kept one, and the keys. */
export function LogView() {
  return <Log tenantId={useTenantId()} />;
}

/** The log without signing in. */
export function OpenLogView() {
  return <Log tenantId={null} />;
}

function Log({ tenantId }: { tenantId: string | null }) {
  const { keys, served } = useTrustedKeys();
  const look = useLook(keys);
  return (
    <Page
      title={TEXT.title}
      note={TEXT.note}
      call={{ method: 'GET', path: '/log/checkpoint' }}
      actions={
        <Button isPending={look.isFetching} onClick={() => void look.refetch()}>
          {TEXT.lookAgain}
        </Button>
      }
    >
      {keys === null ? (
        served.error !== null && <Problem error={served.error} retry={() => void served.refetch()} />
      ) : (
        <Loaded query={look}>{(data) => <Newest look={data} whose={keys.whose} />}</Loaded>
      )}
      {tenantId !== null && <EntryCheck tenantId={tenantId} keys={keys} />}
      <TrustPanel />
      {tenantId !== null && <Growth tenantId={tenantId} size={look.data?.checkpoint.size ?? null} />}
      <Section title={TEXT.keys}>
        <Loaded query={served}>{(data) => <Keys keys={data} />}</Loaded>
      </Section>
    </Page>
  );
}

function Newest({ look, whose }: { look: CheckpointLook; whose: TrustedKeys['whose'] }) {
  const { checkpoint, note, fault, signatures } = look;
  return (
    <Section title={TEXT.newest} actions={<Copy text={note} label={TEXT.copyNote} />}>
      <div className={styles.newest}>
        <dl className={styles.figures}>
          <div>
            <dt>{TEXT.entries}</dt>
            <dd className={styles.size}>{checkpoint.size.toLocaleString()}</dd>
          </div>
          <div>
            <dt>{TEXT.origin}</dt>
            <dd>
              <code>{checkpoint.origin}</code>
            </dd>
          </div>
          <div>
            <dt>{TEXT.root}</dt>
            <dd>
              <Hash value={encodeBase64(checkpoint.root)} length={44} />
            </dd>
          </div>
        </dl>
        <div role="status">
          {fault === null ? (
            <Notice tone={whose === 'own' ? 'good' : 'warn'}>
              <strong>✓ {TEXT.holds[whose]}</strong> {grownText(look)}
            </Notice>
          ) : (
            <Problem error={fault} />
          )}
        </div>
        {fault !== null && fault.evidence.length > 0 && (
          <p>
            {TEXT.evidence}{' '}
            <Button small onClick={() => download(TEXT.evidenceName, 'text/plain', [fault.evidence.join('\n----\n')])}>
              {TEXT.takeEvidence}
            </Button>
          </p>
        )}
        <Signatures signatures={signatures} lookedAt={look.lookedAt} />
        <details>
          <summary>{TEXT.showNote}</summary>
          <pre className={styles.note}>{note}</pre>
        </details>
      </div>
    </Section>
  );
}

function grownText({ keptSize, checkpoint: { size } }: CheckpointLook): string {
  const shown = size.toLocaleString();
  if (keptSize === null) return TEXT.grownFirst(shown);
  return keptSize === size ? TEXT.grownSame(shown) : TEXT.grownTo(keptSize.toLocaleString(), shown);
}

function Signatures({ signatures, lookedAt }: { signatures: readonly ShownSignature[]; lookedAt: number }) {
  return (
    <Table
      caption={TEXT.signatures}
      items={signatures}
      keyOf={({ key, time }) => `${key} ${time}`}
      columns={[
        { title: TEXT.signer, isHeader: true, value: ({ key }) => key, cell: ({ key }) => <code>{key}</code> },
        { title: TEXT.role, value: ({ role }) => TEXT.roles[role] },
        {
          title: TEXT.outcome,
          value: ({ isValid }) => (isValid === null ? TEXT.notKnown : isValid ? TEXT.verified : TEXT.notVerified),
          cell: ({ isValid }) =>
            isValid === null ? (
              <Badge>{TEXT.notKnown}</Badge>
            ) : isValid ? (
              <Badge tone="good">✓ {TEXT.verified}</Badge>
            ) : (
              <Badge tone="bad">✗ {TEXT.notVerified}</Badge>
            ),
        },
        {
          title: TEXT.signed,
          at: ({ time }) => (time === null ? null : new Date(time * 1000).toISOString()),
          value: ({ time }) => (time === null ? TEXT.noTime : null),
        },
        {
          title: TEXT.age,
          cell: ({ time }) => (time === null ? '–' : TEXT.ageOf(Math.max(0, Math.round(lookedAt / 1000 - time)))),
        },
      ]}
    />
  );
}

/** The number of entries in the plot. */
const PLOTTED = 1_000;
/** The number of rows in the table below the plot. */
const ROWS = 12;

/** Plots the growth of the log from the indexes and times of the tenant's entries. The log itself records no times. */
function Growth({ tenantId, size }: { tenantId: string; size: number | null }) {
  const after = size === null || size <= PLOTTED ? {} : { after: String(size - PLOTTED - 1) };
  const query = { ...after, limit: PLOTTED };
  const feed = useGet(
    size === null ? null : apiCall('GET', '/v1/tenants/{tenant_id}/changes', { path: { tenant_id: tenantId }, query }),
  );
  const points = useMemo(() => pointsOf(feed.data?.items ?? []), [feed.data]);
  const times = useMemo(() => points.map(({ at }) => at / 1000), [points]);
  const series = useMemo(
    () => [{ label: TEXT.size, colour: '--accent', values: points.map((point) => point.size) }],
    [points],
  );
  return (
    <Section title={TEXT.growth}>
      {feed.error !== null && <Problem error={feed.error} retry={() => void feed.refetch()} />}
      {feed.data === undefined ? (
        feed.error === null && <Loading />
      ) : points.length === 0 ? (
        <Empty title={TEXT.growthNone} />
      ) : (
        <Plot title={TEXT.growthTitle} times={times} series={series}>
          <p>{TEXT.growthText((size ?? 0).toLocaleString(), points.length)}</p>
          <details>
            <summary>{TEXT.growthTable}</summary>
            <Table
              caption={TEXT.growthTitle}
              items={samplesOf(points, ROWS)}
              keyOf={({ at, size: entries }) => `${at} ${entries}`}
              columns={[
                { title: TEXT.time, isHeader: true, at: ({ at }) => new Date(at).toISOString() },
                { title: TEXT.size, value: ({ size: entries }) => entries },
              ]}
            />
          </details>
        </Plot>
      )}
    </Section>
  );
}

interface Point {
  readonly at: number;
  readonly size: number;
}

/** Returns the size of the log at the time of each entry. Imported entries may have been logged in another order. */
export function pointsOf(changes: api.ChangePage['items']): Point[] {
  const points: Point[] = [];
  for (const change of changes) {
    const at = Date.parse(momentOfChange(change));
    const last = points.at(-1);
    if (last === undefined || at >= last.at) points.push({ at, size: change.log_index + 1 });
  }
  return points;
}

/** Returns `count` items at equal distances, including the last one. */
export function samplesOf<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  const step = (items.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => items[Math.round(index * step)]).filter(
    (item) => item !== undefined,
  );
}

function Keys({ keys }: { keys: api.LogKeys }) {
  const policy = policyTextOf(keys);
  return (
    <div className={styles.keys}>
      <p>{TEXT.keysText}</p>
      <Table
        caption={TEXT.key}
        items={keys.vkeys}
        keyOf={({ vkey }) => vkey}
        columns={[
          { title: TEXT.key, isHeader: true, value: ({ vkey }) => vkey, cell: ({ vkey }) => <Key vkey={vkey} /> },
          { title: TEXT.from, at: ({ from }) => from, value: ({ from }) => (from === null ? TEXT.announced : null) },
          {
            title: TEXT.until,
            at: ({ until }) => until,
            value: ({ until }) => (until === null ? TEXT.stillSigns : null),
          },
        ]}
      />
      {keys.witnesses.length === 0 ? (
        <Notice tone="warn">{TEXT.noWitnesses}</Notice>
      ) : (
        <>
          <Table
            caption={TEXT.witnesses}
            items={keys.witnesses}
            keyOf={({ vkey }) => vkey}
            columns={[
              {
                title: TEXT.witnesses,
                isHeader: true,
                value: ({ vkey }) => vkey,
                cell: ({ vkey }) => <Key vkey={vkey} />,
              },
            ]}
          />
          <p>{TEXT.quorum(keys.quorum, keys.witnesses.length)}</p>
        </>
      )}
      <details>
        <summary>{TEXT.policy}</summary>
        <pre className={styles.note}>{policy}</pre>
      </details>
      <div>
        <Copy text={policy} label={TEXT.copyPolicy} />
      </div>
    </div>
  );
}

function Key({ vkey }: { vkey: string }) {
  return (
    <span className={styles.key}>
      <code>{vkey}</code> <Copy text={vkey} />
    </span>
  );
}
