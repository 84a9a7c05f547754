import { useMemo, useState } from 'react';
import type { ProvedVersion } from '@iss/proof';
import { Button } from '../../ui/button.tsx';
import { Copy, Hash } from '../../ui/copy.tsx';
import { Badge, Problem, Section, type Tone } from '../../ui/page.tsx';
import { FramedTable } from '../../ui/table/framed-table.tsx';
import type { Column } from '../../ui/table/sortable.tsx';
import type { FileOutcome } from './job.ts';
import { type ReadValues, ValuesDialog } from './values.tsx';
import type { FileVerification } from './verification.ts';
import { TEXT } from './words.ts';
import styles from './verify.module.css';

/** Shows the progress and the outcome of a verification. */
export function VerificationOutcome({
  verification,
  onStop,
  read,
}: {
  verification: FileVerification;
  onStop?: () => void;
  /** Reads a version; absent if versions cannot be shown. */
  read?: ReadValues;
}) {
  const { file, versions, of, outcome, failure } = verification;
  const { name } = file;
  return (
    <>
      <div role="status">
        {outcome === null && failure === null && (
          <div className={styles.progress}>
            <span>{TEXT.under(name)}</span>
            <progress aria-label={TEXT.under(name)} {...(of === null ? {} : { max: of, value: versions.length })} />
            <span>{TEXT.progress(versions.length, of)}</span>
            {onStop !== undefined && (
              <Button small onClick={onStop}>
                {TEXT.stop}
              </Button>
            )}
          </div>
        )}
        {outcome !== null && <Verdict verification={verification} outcome={outcome} />}
      </div>
      {failure !== null && <Problem error={failure} />}
      {outcome?.is === 'proved' && <Report outcome={outcome} />}
      {versions.length > 0 && <Lines verification={verification} {...(read === undefined ? {} : { read })} />}
    </>
  );
}

function Verdict({ verification, outcome }: { verification: FileVerification; outcome: FileOutcome }) {
  const { file, whose, versions, of, tookMs } = verification;
  const { name } = file;
  const took = tookMs === null ? '' : TEXT.took(tookMs);
  if (outcome.is === 'proved') {
    return (
      <div className={styles.verdict} data-outcome="proved" data-whose={whose}>
        <strong>
          <span aria-hidden="true">✓</span> {TEXT.proved[whose]}
        </strong>
        <span>{TEXT.provedText[whose](name)}</span>
        <span className={styles.quiet}>
          {of !== null && `${TEXT.progress(versions.length, null)} `}
          {took}
        </span>
      </div>
    );
  }
  const { message, line } = outcome;
  const isBundle = of !== null || (line !== null && line > 1);
  return (
    <div className={styles.verdict} data-outcome={outcome.is}>
      <strong>
        <span aria-hidden="true">✗</span> {outcome.is === 'refused' ? TEXT.refused : TEXT.unreadable}
      </strong>
      <span>{outcome.is === 'refused' ? TEXT.refusedText(name) : TEXT.unreadableText(name)}</span>
      <dl className={styles.facts}>
        {line !== null && (
          <>
            <dt>{TEXT.where}</dt>
            <dd>{line === 1 ? TEXT.line(line) : TEXT.lineOfVersion(line, line - 1)}</dd>
          </>
        )}
        <dt>{TEXT.why}</dt>
        <dd>{message}</dd>
      </dl>
      {isBundle && <span className={styles.quiet}>{TEXT.held(versions.length)}</span>}
    </div>
  );
}

/** Shows the report that `iss verify` prints. */
function Report({ outcome }: { outcome: Extract<FileOutcome, { is: 'proved' }> }) {
  const { rows, notProved } = outcome.report;
  return (
    <Section
      title={TEXT.report}
      actions={<Copy text={JSON.stringify(outcome.json, null, 2)} label={TEXT.copyReport} />}
    >
      <dl className={styles.facts}>
        {rows.map(([heading, text], index) => (
          <div key={index}>
            <dt>{heading.trim()}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <h3>{TEXT.notProved}</h3>
      <ul className={styles.list}>
        {notProved.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </Section>
  );
}

const ROW_HEIGHT = 40;

/** A line of a bundle: a version, or the refused line. */
interface BundleLine {
  readonly version: number;
  readonly proved: ProvedVersion | null;
}

/** Lists the verified versions of a bundle. */
function Lines({ verification: { versions, outcome }, read }: { verification: FileVerification; read?: ReadValues }) {
  const [shown, setShown] = useState<ProvedVersion | null>(null);
  const isRefused = outcome !== null && outcome.is !== 'proved' && outcome.line !== null;
  const lines = useMemo((): readonly BundleLine[] => {
    const proved = versions.map((one) => ({ version: one.version, proved: one }));
    return isRefused ? [...proved, { version: versions.length + 1, proved: null }] : proved;
  }, [versions, isRefused]);
  const columns: readonly Column<BundleLine>[] = [
    {
      title: TEXT.version,
      value: ({ version }) => version,
      cell: ({ version, proved }) =>
        read === undefined || proved === null || proved.isErased ? (
          version
        ) : (
          <Button small kind="plain" aria-label={TEXT.showValues(version)} onClick={() => setShown(proved)}>
            {version}
          </Button>
        ),
    },
    { title: TEXT.outcome, value: ({ proved }) => outcomeOf(proved).text, cell: ({ proved }) => <Mark of={proved} /> },
    { title: TEXT.written, at: ({ proved }) => proved?.facts?.createdAt },
    { title: TEXT.entryAt, value: ({ proved }) => proved?.logIndex },
    {
      title: TEXT.hash,
      value: ({ proved }) => proved?.facts?.envelopeHash,
      cell: ({ proved }) => proved !== null && proved.facts !== null && <Hash value={proved.facts.envelopeHash} />,
    },
  ];
  return (
    <Section title={TEXT.lines}>
      <FramedTable
        label={TEXT.lines}
        columns={columns}
        items={lines}
        rowHeight={ROW_HEIGHT}
        styles={{ frame: styles.lines, head: styles.head, space: styles.space, row: styles.row }}
        isWhole={outcome !== null}
      />
      {read !== undefined && shown !== null && (
        <ValuesDialog version={shown} read={read} onClose={() => setShown(null)} />
      )}
    </Section>
  );
}

function outcomeOf(proved: ProvedVersion | null): { readonly tone: Tone; readonly text: string } {
  if (proved === null) return { tone: 'bad', text: `✗ ${TEXT.refused}` };
  return proved.isErased ? { tone: 'warn', text: TEXT.erased } : { tone: 'good', text: `✓ ${TEXT.holds}` };
}

function Mark({ of }: { of: ProvedVersion | null }) {
  const { tone, text } = outcomeOf(of);
  return <Badge tone={tone}>{text}</Badge>;
}
