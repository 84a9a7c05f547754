import { useNavigate, useSearch } from '@tanstack/react-router';
import type { JsonValue } from '@iss/domain/pure';
import type { Step, StepState } from '@iss/proof';
import { useSubject } from '../../app/address.ts';
import { TrustPanel } from '../../entities/trust.tsx';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { useVersions, VersionChoice, versionOf } from '../../entities/versions.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy, Hash } from '../../ui/copy.tsx';
import { download } from '../../ui/download.ts';
import { Loaded, Badge, Loading, Page, Problem, type Tone } from '../../ui/page.tsx';
import { ErasedNotice } from '../subject/erased.tsx';
import { type Proven, useProof } from './ask.ts';
import { BundleActions } from './bundle.tsx';
import { TEXT } from './words.ts';
import styles from './proof.module.css';

/** Recomputes everything that the service states about a version. */
export function ProofView() {
  const subject = useSubject();
  const { version: named } = useSearch({ from: '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId/proof' });
  const navigate = useNavigate();
  const { list, latest, first, access, isKnown, receiptOf } = useVersions();
  const { keys, served, hasMap } = useTrustedKeys();
  const version = versionOf(named) ?? first;
  const proof = useProof(subject, isKnown ? version : null, { keys, hasMap, access, receiptOf });
  const choose = (next: number): void =>
    void navigate({
      to: '/t/$tenantId/subjects/$subjectType/$subjectId/proof',
      params: subject.params,
      search: { version: String(next) },
    });
  return (
    <Page
      title={TEXT.title(version ?? 1)}
      note={TEXT.note}
      call={{ method: 'GET', path: `${subject.path}/snapshots/${version ?? 'latest'}` }}
      actions={
        version !== null &&
        proof.data !== undefined && <TakeProofs proven={proof.data} id={subject.subjectId} version={version} />
      }
    >
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {version !== null && (
        <VersionChoice label={TEXT.version} versions={list.items} latest={latest} value={version} onChange={choose} />
      )}
      <TrustPanel />
      {keys === null && served.error !== null && <Problem error={served.error} retry={() => void served.refetch()} />}
      {proof.isFetching && proof.data === undefined && <p role="status">{TEXT.working}</p>}
      {proof.isEnabled && !(proof.isFetching && proof.data === undefined) && (
        <Loaded query={proof}>
          {({ steps, receipt }) => (
            <>
              {receipt !== null && <ErasedNotice receipt={receipt} />}
              <Steps steps={steps} isErased={receipt !== null} />
            </>
          )}
        </Loaded>
      )}
      {version === null && list.error === null && <Loading />}
      {access?.may('read_lineage') === true && <BundleActions subject={subject} keys={keys} />}
    </Page>
  );
}

/** Offers the responses of the service as files, which `iss verify` and the Verify view accept. */
function TakeProofs({ proven: { proof, newest }, id, version }: { proven: Proven; id: string; version: number }) {
  return (
    <>
      <TakeProof label={TEXT.takeProof} name={TEXT.proofName(id, version)} proof={proof} />
      <TakeProof label={TEXT.takeNewest} name={TEXT.newestName(id)} proof={newest} />
    </>
  );
}

function TakeProof({ label, name, proof }: { label: string; name: string; proof: JsonValue | null }) {
  if (proof === null) return null;
  return (
    <Button onClick={() => download(name, 'application/json', [JSON.stringify(proof, null, 2), '\n'])}>{label}</Button>
  );
}

const SIGNS: Readonly<Record<StepState, { sign: string; tone: Tone }>> = {
  holds: { sign: '✓', tone: 'good' },
  fails: { sign: '✗', tone: 'bad' },
  open: { sign: '–', tone: 'warn' },
};

function Steps({ steps, isErased }: { steps: readonly Step[]; isErased: boolean }) {
  const count = (state: StepState): number => steps.filter((step) => step.state === state).length;
  const failed = count('fails');
  const left = count('open');
  const overall = failed > 0 ? 'fails' : left > 0 ? 'open' : 'holds';
  return (
    <>
      <p className={styles.summary} data-state={overall} role="status">
        <span aria-hidden="true">{SIGNS[overall].sign}</span>
        {failed > 0 ? TEXT.fails(failed) : isErased ? TEXT.erased : left > 0 ? TEXT.someOpen(left) : TEXT.allHold}
      </p>
      <ol className={styles.steps}>
        {steps.map((step) => (
          <StepItem key={step.name} step={step} />
        ))}
      </ol>
    </>
  );
}

function StepItem({ step: { name, state, why, inputs } }: { step: Step }) {
  const { title, proves } = TEXT.steps[name];
  const { sign, tone } = SIGNS[state];
  return (
    <li className={styles.step} data-state={state} data-step={name}>
      <span className={styles.sign} aria-hidden="true">
        {sign}
      </span>
      <div className={styles.body}>
        <h2>
          {title} <Badge tone={tone}>{TEXT.states[state]}</Badge>
        </h2>
        <p className={styles.proves}>{proves}</p>
        <p className={styles.why}>{why}</p>
        {inputs.length > 0 && (
          <details>
            <summary>{TEXT.inputs}</summary>
            <dl className={styles.inputs}>
              {inputs.map(([input, value], index) => (
                <div key={index}>
                  <dt>{TEXT.inputNames[input]}</dt>
                  <dd>
                    <Input value={value} />
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </li>
  );
}

const SHOWN_CHARACTERS = 4_000;
const HASH = /^[0-9a-f]{64}$/;

function Input({ value }: { value: string }) {
  if (HASH.test(value)) return <Hash value={value} length={64} />;
  return (
    <div className={styles.text}>
      <pre tabIndex={0}>{value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)} …` : value}</pre>
      <Copy text={value} />
    </div>
  );
}
