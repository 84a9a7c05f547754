import { type FormEvent, useState } from 'react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { SUBJECT_VIEW, useSubject } from '../../app/address.ts';
import type { SubjectAccess } from '../../entities/subject-access.ts';
import { instantOf, localOf, MomentField } from '../../forms/form.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Fold } from '../../ui/fold.tsx';
import { Badge } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { TEXT } from './words.ts';
import styles from './subject.module.css';

/** Chooses a version by number or by a moment. */
export function VersionBar({
  access,
  shown,
  latest,
}: {
  access: SubjectAccess;
  shown: number | null;
  latest: number | null;
}) {
  const { params } = useSubject();
  const { as_of: asOf } = useSearch({ from: `/signed-in${SUBJECT_VIEW}/` });
  const mayName = access.may('read_lineage', 'read_snapshot_by_id');
  return (
    <section className={styles.bar} aria-label={TEXT.versionBar}>
      <p className={styles.place}>
        {asOf !== undefined && (
          <>
            {TEXT.newestAt} <Time at={asOf} />:{' '}
          </>
        )}
        {shown !== null && (
          <>
            <strong>
              {TEXT.version} {shown}
            </strong>
            {latest !== null && (
              <>
                {', '}
                {shown === latest ? (
                  <Badge tone="good">{TEXT.isLatest}</Badge>
                ) : (
                  <Badge tone="accent">{TEXT.isOlder(latest)}</Badge>
                )}
              </>
            )}
            {shown > 1 && access.may('read_diff', 'read_lineage', 'read_snapshot_by_id') && (
              <>
                {' · '}
                <Link
                  to={`${SUBJECT_VIEW}/compare`}
                  params={params}
                  search={{ from: String(shown - 1), to: String(shown) }}
                >
                  {TEXT.compareWithPrevious}
                </Link>
              </>
            )}
          </>
        )}
      </p>
      {mayName && (
        <Fold title={TEXT.otherVersion}>
          <Versions shown={shown} latest={latest} />
          <Moment />
        </Fold>
      )}
    </section>
  );
}

function Versions({ shown, latest }: { shown: number | null; latest: number | null }) {
  const { params } = useSubject();
  const search = useSearch({ from: `/signed-in${SUBJECT_VIEW}/` });
  const rest = { ...search, as_of: '', basis: '', version: '' };
  const navigate = useNavigate();
  const [text, setText] = useState(shown === null ? '' : String(shown));
  const step = (version: number, label: string, isThere: boolean) =>
    isThere ? (
      <Link to={SUBJECT_VIEW} params={params} search={{ ...rest, version: String(version) }} className={buttonClass()}>
        {label}
      </Link>
    ) : (
      <Button disabled>{label}</Button>
    );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void navigate({ to: SUBJECT_VIEW, params, search: text === '' ? rest : { ...rest, version: text } });
  };
  return (
    <form className={styles.controls} onSubmit={submit}>
      {step((shown ?? 0) - 1, TEXT.previous, shown !== null && shown > 1)}
      <div className={styles.versionField}>
        <TextField
          label={latest === null ? TEXT.version : TEXT.versionOf(latest)}
          inputMode="numeric"
          pattern="[1-9][0-9]*"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <Button type="submit">{TEXT.go}</Button>
      {step((shown ?? 0) + 1, TEXT.next, shown !== null && (latest === null || shown < latest))}
      {(search.version !== undefined || search.as_of !== undefined) && (
        <Link to={SUBJECT_VIEW} params={params} search={rest} className={buttonClass()}>
          {TEXT.latest}
        </Link>
      )}
    </form>
  );
}

function Moment() {
  const { params } = useSubject();
  const search = useSearch({ from: `/signed-in${SUBJECT_VIEW}/` });
  const navigate = useNavigate();
  const [at, setAt] = useState(localOf(search.as_of));
  const [basis, setBasis] = useState(search.basis ?? 'recorded');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const moment = instantOf(at);
    if (moment !== null)
      void navigate({ to: SUBJECT_VIEW, params, search: { ...search, version: '', as_of: moment, basis } });
  };
  return (
    <form className={styles.controls} onSubmit={submit}>
      <MomentField label={TEXT.moment} step={1} required value={at} onChange={(event) => setAt(event.target.value)} />
      <Select
        label={TEXT.basis}
        value={basis}
        options={[
          { value: 'recorded', label: TEXT.recorded },
          { value: 'effective', label: TEXT.effective },
        ]}
        onChange={(event) => setBasis(event.target.value)}
      />
      <Button type="submit">{TEXT.go}</Button>
    </form>
  );
}
