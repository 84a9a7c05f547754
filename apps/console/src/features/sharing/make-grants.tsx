import { type FormEvent, useDeferredValue, useState } from 'react';
import type { api } from '@identity-state/client';
import { type ApiCall, tenantPath, useAction, useList } from '../../app/api.ts';
import { useKnownTenants } from '../../entities/known-tenants.ts';
import { SCOPES, TEXT } from './words.ts';
import { TEXT as UI } from '../../text/ui.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextArea, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Notice } from '../../ui/state.tsx';
import { Table } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { ScopeFields, UntilField } from './grant-fields.tsx';
import { instantOf, type Scope } from './grants.ts';
import styles from './sharing.module.css';

const WORDS = TEXT.make;
/** The default of `GRANT_BATCH_MAX`. */
const MOST = 1_000;
const FOUND = 6;
const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const SUBJECT = /^(organization|individual|entity)\/(.{1,512})$/;

type Body = api.CreateGrantBody;

interface Wanted {
  readonly bodies: readonly Body[];
  readonly granteeFault: string | undefined;
  readonly subjectFault: string | undefined;
  readonly untilFault: string | undefined;
}

/** Returns the request bodies of the form, and its errors. */
export function wantedOf(form: {
  grantees: string;
  isAll: boolean;
  subjects: string;
  scopes: readonly Scope[];
  until: string;
  purpose: string;
}): Wanted {
  const grantees = [...new Set(form.grantees.split(/[\s,]+/).filter((id) => id !== ''))];
  const lines = [...new Set(form.subjects.split('\n').filter((line) => line.trim() !== ''))];
  const wrongGrantee = grantees.find((id) => !TENANT_ID.test(id));
  const wrongSubject = form.isAll ? undefined : lines.find((line) => !SUBJECT.test(line));
  const expiresAt = instantOf(form.until);
  const isPast = form.until !== '' && (expiresAt === null || Date.parse(expiresAt) <= Date.now());
  const faults = {
    granteeFault: wrongGrantee === undefined ? undefined : WORDS.noTenant(wrongGrantee),
    subjectFault: wrongSubject === undefined ? undefined : WORDS.noSubject(wrongSubject),
    untilFault: isPast ? WORDS.past : undefined,
  };
  if (wrongGrantee !== undefined || wrongSubject !== undefined || isPast || form.scopes.length === 0) {
    return { bodies: [], ...faults };
  }
  const common = {
    scopes: [...form.scopes],
    ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    ...(form.purpose.trim() === '' ? {} : { purpose: form.purpose.trim() }),
  };
  const onEach: Body[] = grantees.flatMap((grantee): Body[] => {
    if (form.isAll) return [{ grantee_tenant_id: grantee, subject_type: '*', ...common }];
    return lines.flatMap((line): Body[] => {
      const [, type, id] = SUBJECT.exec(line) ?? [];
      if ((type !== 'organization' && type !== 'individual' && type !== 'entity') || id === undefined) return [];
      return [{ grantee_tenant_id: grantee, subject_type: type, subject_id: id, ...common }];
    });
  });
  return { bodies: onEach, ...faults };
}

/** Creates a grant for each grantee and each subject. Refused grants stay in the form for another attempt. */
export function MakeGrants({
  tenantId,
  subject,
  changes,
  onClose,
}: {
  tenantId: string;
  /** The subject that is filled in: `organization/acme-corp`. */
  subject?: string;
  changes: readonly string[];
  onClose: () => void;
}) {
  const path = tenantPath(tenantId, 'grants');
  const one = useAction<api.CreatedGrant | api.PendingGrant>(...changes);
  const many = useAction<api.GrantResults>(...changes);
  const [grantees, setGrantees] = useState('');
  const known = useKnownTenants(tenantId).filter((id) => !grantees.split(/[\s,]+/).includes(id));
  const [isAll, setAll] = useState(false);
  const [subjects, setSubjects] = useState(subject === undefined ? '' : `${subject}\n`);
  const [scopes, setScopes] = useState<readonly Scope[]>(['read_latest']);
  const [until, setUntil] = useState('');
  const [purpose, setPurpose] = useState('');
  /** The refused bodies of a batch, with the reasons. */
  const [refused, setRefused] = useState<readonly { body: Body; why: string }[]>([]);
  const [made, setMade] = useState<number | null>(null);
  const [waiting, setWaiting] = useState(0);
  const { bodies, granteeFault, subjectFault, untilFault } = wantedOf({
    grantees,
    isAll,
    subjects,
    scopes,
    until,
    purpose,
  });
  const callOf = (wanted: readonly Body[]): ApiCall<never> =>
    wanted.length === 1
      ? { method: 'POST', path, body: wanted[0] }
      : { method: 'POST', path: `${path}/batch`, body: { grants: wanted } };

  const send = (wanted: readonly Body[]): void => {
    const call = callOf(wanted);
    if (wanted.length === 1) {
      one.mutate(call, {
        onSuccess: ({ status }) => {
          const held = status === 'pending' ? 1 : 0;
          setMade((before) => (before ?? 0) + 1 - held);
          setWaiting((before) => before + held);
          setRefused([]);
        },
      });
      return;
    }
    many.mutate(call, {
      onSuccess: ({ items }) => {
        const failed = items.flatMap(({ index, error }) => {
          const body = wanted[index];
          return body === undefined || error === undefined
            ? []
            : [{ body, why: [error.message, ...(error.details ?? []).map(({ message }) => message)].join(' ') }];
        });
        const held = items.filter((item) => item.pending_grant !== undefined).length;
        setMade((before) => (before ?? 0) + wanted.length - failed.length - held);
        setWaiting((before) => before + held);
        setRefused(failed);
      },
    });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (bodies.length > 0 && bodies.length <= MOST) send(bodies);
  };
  const isPending = one.isPending || many.isPending;
  const error = one.error ?? many.error;

  if (made !== null) {
    return (
      <Dialog title={WORDS.title} isOpen onClose={onClose}>
        <div className={styles.stack}>
          {made > 0 && (
            <div role="status">
              <Notice tone="good">{WORDS.made(made)}</Notice>
            </div>
          )}
          {waiting > 0 && (
            <div role="status">
              <Notice tone="warn">{WORDS.waiting(waiting)}</Notice>
            </div>
          )}
          {refused.length > 0 && (
            <>
              <p role="status">{WORDS.refused(refused.length)}</p>
              <Table
                caption={WORDS.refusedCaption}
                items={refused}
                keyOf={({ body }) => JSON.stringify(body)}
                columns={[
                  { title: TEXT.grantee, isHeader: true, value: ({ body }) => body.grantee_tenant_id },
                  { title: TEXT.subject, value: ({ body }) => body.subject_id ?? TEXT.allSubjects },
                  { title: WORDS.why, value: ({ why }) => why },
                ]}
              />
            </>
          )}
          {error !== null && <Problem error={error} />}
        </div>
        <div className={ui.dialogFoot}>
          {refused.length > 0 && (
            <Button isPending={isPending} onClick={() => send(refused.map(({ body }) => body))}>
              {WORDS.again}
            </Button>
          )}
          <Button kind="primary" onClick={onClose}>
            {WORDS.close}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={WORDS.title} isOpen onClose={onClose}>
      <form className={ui.form} onSubmit={submit}>
        <TextArea
          label={WORDS.grantees}
          hint={WORDS.granteesHint}
          fault={granteeFault}
          rows={2}
          value={grantees}
          onChange={(event) => setGrantees(event.target.value)}
        />
        {known.length > 0 && (
          <Select
            label={WORDS.pick}
            value=""
            options={[{ value: '', label: WORDS.choose }, ...known.map((id) => ({ value: id, label: id }))]}
            onChange={(event) => setGrantees(`${grantees.trim()}\n${event.target.value}`.trim())}
          />
        )}
        <fieldset className={styles.fieldset}>
          <legend>{WORDS.what}</legend>
          <label className={styles.choice}>
            <input type="radio" name="what" checked={!isAll} onChange={() => setAll(false)} />
            <span>{WORDS.some}</span>
          </label>
          <label className={styles.choice}>
            <input type="radio" name="what" checked={isAll} onChange={() => setAll(true)} />
            <span>{WORDS.all}</span>
          </label>
        </fieldset>
        {!isAll && (
          <>
            <TextArea
              label={WORDS.subjects}
              hint={WORDS.subjectsHint}
              fault={subjectFault}
              rows={3}
              value={subjects}
              onChange={(event) => setSubjects(event.target.value)}
            />
            <FindSubject
              tenantId={tenantId}
              onFound={(found) =>
                setSubjects((before) => `${before.replace(/\n*$/, before === '' ? '' : '\n')}${found}\n`)
              }
            />
          </>
        )}
        <ScopeFields value={scopes} onChange={setScopes} />
        <UntilField value={until} onChange={setUntil} fault={untilFault} />
        <TextField
          label={WORDS.purpose}
          hint={WORDS.purposeHint}
          maxLength={500}
          value={purpose}
          onChange={(event) => setPurpose(event.target.value)}
        />
        <p className={styles.quiet} role="status">
          {bodies.length > MOST ? WORDS.tooMany(MOST) : WORDS.willMake(bodies.length)}{' '}
          {bodies.length > 0 && scopes.map((scope) => SCOPES[scope].lets).join(' ')}
        </p>
        {error !== null && <Problem error={error} />}
        <div className={ui.dialogFoot}>
          {bodies.length > 0 && <CopyCurl call={callOf(bodies)} />}
          <Button onClick={onClose}>{UI.cancel}</Button>
          <Button
            type="submit"
            kind="primary"
            isPending={isPending}
            disabled={bodies.length === 0 || bodies.length > MOST}
          >
            {WORDS.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Finds own subjects by the beginning of their names. A button adds each found subject. */
function FindSubject({ tenantId, onFound }: { tenantId: string; onFound: (subject: string) => void }) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const list = useList<api.Subject>(q === '' ? null : tenantPath(tenantId, 'subjects'), { q, limit: FOUND });
  return (
    <div className={styles.fieldset}>
      <TextField
        label={WORDS.add}
        hint={WORDS.addHint}
        maxLength={128}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {list.error !== null && <Problem error={list.error} />}
      {q !== '' && (
        <div className={styles.row}>
          {list.items.map(({ subject_type: type, subject_id: id }) => {
            const subject = `${type}/${id}`;
            return (
              <Button key={subject} small aria-label={WORDS.addOne(subject)} onClick={() => onFound(subject)}>
                + {subject}
              </Button>
            );
          })}
        </div>
      )}
    </div>
  );
}
