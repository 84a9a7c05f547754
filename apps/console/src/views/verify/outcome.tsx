import type { ProvedVersion } from '@identity-state/client/bundle';
import { TEXT } from '../../text/verify.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { FramedTable } from '../../ui/framed-table.tsx';
import { Hash } from '../../ui/hash.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Badge } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { FileOutcome } from './job.ts';
import type { Verification } from './verification.ts';
import styles from './verify.module.css';

/** How far a verification is, and what came of it. */
export function Outcome({ verification, onStop }: { verification: Verification; onStop?: () => void }) {
  const { name, versions, of, outcome, failure } = verification;
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
      {versions.length > 0 && <Lines verification={verification} />}
    </>
  );
}

function Verdict({ verification, outcome }: { verification: Verification; outcome: FileOutcome }) {
  const { name, versions, of, tookMs } = verification;
  const took = tookMs === null ? '' : TEXT.took(tookMs);
  if (outcome.is === 'proved') {
    return (
      <div className={styles.verdict} data-outcome="proved">
        <strong>
          <span aria-hidden="true">✓</span> {TEXT.proved}
        </strong>
        <span>{TEXT.provedText(name)}</span>
        <span className={styles.quiet}>
          {of !== null && `${TEXT.progress(versions.length, null)} `}
          {took}
        </span>
      </div>
    );
  }
  const { message, line } = outcome;
  const isBundle = of !== null;
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

/** What `iss verify` prints. */
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

/** Every version of a bundle with what became of it, of any number. */
function Lines({ verification: { versions, outcome } }: { verification: Verification }) {
  const refused = outcome === null || outcome.is === 'proved' || outcome.line === null ? null : outcome;
  const count = versions.length + (refused === null ? 0 : 1);
  return (
    <Section title={TEXT.lines}>
      <FramedTable
        label={TEXT.lines}
        titles={[TEXT.version, TEXT.outcome, TEXT.written, TEXT.entryAt, TEXT.hash]}
        count={count}
        rowHeight={ROW_HEIGHT}
        styles={{ frame: styles.lines, head: styles.head, space: styles.space, row: styles.row }}
      >
        {(index) => {
          const version = versions[index];
          return version === undefined ? <RefusedLine number={index + 1} /> : <Line version={version} />;
        }}
      </FramedTable>
    </Section>
  );
}

function Line({ version }: { version: ProvedVersion }) {
  return (
    <>
      <span role="cell">{version.version}</span>
      <span role="cell">
        {version.isErased ? <Badge tone="warn">{TEXT.erased}</Badge> : <Badge tone="good">✓ {TEXT.holds}</Badge>}
      </span>
      <span role="cell">
        <Time at={version.createdAt} />
      </span>
      <span role="cell">{version.logIndex}</span>
      <span role="cell">
        <Hash value={version.envelopeHash} />
      </span>
    </>
  );
}

function RefusedLine({ number }: { number: number }) {
  return (
    <>
      <span role="cell">{number}</span>
      <span role="cell">
        <Badge tone="bad">✗ {TEXT.refused}</Badge>
      </span>
      <span role="cell" />
      <span role="cell" />
      <span role="cell" />
    </>
  );
}
