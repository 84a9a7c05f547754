import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { ApiError, ForbiddenError } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { tenantPath, useAction } from '../../app/api.ts';
import { useSubjectAccess } from '../../entities/subject-access.ts';
import { INTERVALS, TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Select, TextArea, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Place } from '../../ui/text/place.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Loading } from '../../ui/state.tsx';
import ui from '../../ui/ui.module.css';
import { contentOf, leavesOf } from '../proposals/content.ts';
import { useVersion } from '../proposals/use-version.ts';
import styles from './styles.module.css';

const MAX_MESSAGE = 2_000;
const SHOWN_PATHS = 60;
const MAX_PATHS = 2_000;

/** Asks the owner for a newer version, with the values, a reason and a due date. */
export function AskForm({ path, onClose }: { path: string | undefined; onClose: () => void }) {
  const { tenantId, subjectId, globalPath } = useSubject();
  const requests = `${globalPath}/refresh-requests`;
  const action = useAction(requests, tenantPath(tenantId, 'refresh-requests'));
  const [reason, setReason] = useState('');
  const [message, setMessage] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>(path === undefined ? [] : [path]);
  const [dueAt, setDueAt] = useState('');
  const [expiresAt, setExpiresAt] = useState('');
  const [every, setEvery] = useState('');
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const details = action.error instanceof ApiError ? action.error.details : [];
  const faultAt = (place: string): string | undefined => details.find((one) => one.path.startsWith(place))?.message;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    action.mutate(
      {
        method: 'POST',
        path: requests,
        body: {
          requesting_tenant_id: tenantId,
          reason_code: reason === '' ? null : reason,
          message: message === '' ? null : message,
          requested_paths: chosen,
          due_at: momentOf(dueAt),
          expires_at: momentOf(expiresAt),
          every: every === '' ? null : every,
        },
      },
      { onSuccess: onClose },
    );
  };
  return (
    <Section title={TEXT.askTitle(subjectId)}>
      <form ref={form} className={ui.form} onSubmit={submit}>
        <p className={styles.quiet}>{TEXT.askNote}</p>
        <div className={styles.fields}>
          <TextField
            label={TEXT.reason}
            hint={TEXT.reasonHint}
            list={`${id}-reasons`}
            value={reason}
            fault={faultAt('/reason_code')}
            onChange={(event) => setReason(event.target.value)}
          />
          <datalist id={`${id}-reasons`}>
            {TEXT.reasons.map((code) => (
              <option key={code} value={code} />
            ))}
          </datalist>
          <TextField
            label={TEXT.dueAt}
            type="datetime-local"
            value={dueAt}
            fault={faultAt('/due_at')}
            onChange={(event) => setDueAt(event.target.value)}
          />
          <TextField
            label={TEXT.expiresAt}
            type="datetime-local"
            value={expiresAt}
            fault={faultAt('/expires_at')}
            onChange={(event) => setExpiresAt(event.target.value)}
          />
          <Select
            label={TEXT.every}
            value={every}
            options={[{ value: '', label: TEXT.once }, ...INTERVALS.map(([value, label]) => ({ value, label }))]}
            onChange={(event) => setEvery(event.target.value)}
          />
        </div>
        <TextArea
          label={TEXT.message}
          rows={3}
          maxLength={MAX_MESSAGE}
          value={message}
          fault={faultAt('/message')}
          onChange={(event) => setMessage(event.target.value)}
        />
        <Paths chosen={chosen} choose={setChosen} fault={faultAt('/requested_paths')} />
        {action.error !== null && <Problem error={action.error} />}
        <div className={ui.actions}>
          <Button type="submit" kind="primary" isPending={action.isPending}>
            {TEXT.send}
          </Button>
          <Button kind="plain" onClick={onClose}>
            {TEXT.close}
          </Button>
        </div>
      </form>
    </Section>
  );
}

interface PathsProps {
  chosen: readonly string[];
  choose: (paths: readonly string[]) => void;
  fault: string | undefined;
}

/** Chooses values of the latest version. Callers that may not read it enter pointers. */
function Paths({ chosen, choose, fault }: PathsProps) {
  const [find, setFind] = useState('');
  const access = useSubjectAccess().data;
  const mayRead = access?.may('read_latest') !== false && access?.latest?.erased === undefined;
  const latest = useVersion(mayRead ? 'latest' : null);
  if (!mayRead || latest.error instanceof ForbiddenError) {
    return (
      <TextArea
        label={TEXT.paths}
        hint={TEXT.pathsUnreadable}
        placeholder={TEXT.pathsHint}
        rows={4}
        value={chosen.join('\n')}
        fault={fault}
        onChange={(event) => choose(event.target.value === '' ? [] : event.target.value.split('\n'))}
      />
    );
  }
  if (latest.error !== null) return <Problem error={latest.error} retry={() => void latest.refetch()} />;
  if (latest.data === undefined) return <Loading />;
  const all = leavesOf(contentOf(latest.data.envelope), MAX_PATHS);
  const wanted = find.trim().toLowerCase();
  const found = [...chosen.filter((one) => !all.includes(one)), ...all].filter(
    (one) => chosen.includes(one) || one.toLowerCase().includes(wanted),
  );
  const toggle = (one: string, isOn: boolean): void =>
    choose(isOn ? [...chosen, one] : chosen.filter((other) => other !== one));
  return (
    <fieldset className={styles.choose}>
      <legend className={ui.legend}>{TEXT.paths}</legend>
      <p className={styles.quiet} role="status">
        {TEXT.pathsNote(chosen.length)}
      </p>
      {all.length > SHOWN_PATHS && (
        <TextField label={TEXT.findPath} value={find} onChange={(event) => setFind(event.target.value)} />
      )}
      <div className={styles.checks}>
        {found.slice(0, SHOWN_PATHS).map((one) => (
          <Checkbox
            key={one}
            label={<Place pointer={one} />}
            checked={chosen.includes(one)}
            onChange={(event) => toggle(one, event.target.checked)}
          />
        ))}
      </div>
      {found.length > SHOWN_PATHS && <p className={styles.quiet}>{TEXT.morePaths(found.length - SHOWN_PATHS)}</p>}
      {fault !== undefined && <span className={ui.fault}>{fault}</span>}
    </fieldset>
  );
}

/** Converts a `datetime-local` value in the reader's time zone to a moment; null if it is empty. */
function momentOf(local: string): string | null {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
