import { useId, useState } from 'react';
import { ApiError, ForbiddenError } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { apiCall, tenantPath, useAction } from '../../app/api.ts';
import { useSubjectAccess } from '../../entities/subject-access.ts';
import { Form, instantOf, MomentField, useForm } from '../../forms/form.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Select, TextArea, TextField } from '../../ui/field.tsx';
import { Loading, Problem, Section } from '../../ui/page.tsx';
import { Place } from '../../ui/text/place.tsx';
import { contentOf, leafPointersOf } from '../proposals/draft/content.ts';
import { useVersion } from '../proposals/use-version.ts';
import ui from '../../ui/ui.module.css';
import { INTERVALS, TEXT } from './words.ts';
import styles from './styles.module.css';

const MAX_MESSAGE = 2_000;
const MOST_PATHS_AT_ONCE = 60;
const MAX_PATHS = 2_000;

interface Values extends Record<string, string | readonly string[]> {
  readonly reason: string;
  readonly message: string;
  readonly paths: readonly string[];
  readonly dueAt: string;
  readonly expiresAt: string;
  readonly every: string;
}

/** Asks the owner for a newer version, with the values, a reason and a due date. */
export function AskForm({ path, onClose }: { path: string | undefined; onClose: () => void }) {
  const { tenantId, subjectId, ids, globalPath } = useSubject();
  const { subject_type, subject_id } = ids;
  const start: Values = {
    reason: '',
    message: '',
    paths: path === undefined ? [] : [path],
    dueAt: '',
    expiresAt: '',
    every: '',
  };
  const form = useForm({
    start,
    action: useAction(`${globalPath}/refresh-requests`, tenantPath(tenantId, 'refresh-requests')),
    callOf: ({ reason, message, paths, dueAt, expiresAt, every }) =>
      apiCall('POST', '/v1/subjects/{subject_type}/{subject_id}/refresh-requests', {
        path: { subject_type, subject_id },
        body: {
          requesting_tenant_id: tenantId,
          reason_code: reason || null,
          message: message || null,
          requested_paths: [...paths],
          due_at: instantOf(dueAt),
          expires_at: instantOf(expiresAt),
          every: every || null,
        },
      }),
    onDone: onClose,
  });
  const id = useId();
  const details = form.error instanceof ApiError ? form.error.details : [];
  const faultAt = (place: string) => ({ fault: details.find((one) => one.path.startsWith(place))?.message });
  return (
    <Section title={TEXT.askTitle(subjectId)}>
      <Form
        form={form}
        submit={TEXT.send}
        hasCurl={false}
        buttons={
          <Button kind="plain" onClick={onClose}>
            {TEXT.close}
          </Button>
        }
      >
        <p className={styles.quiet}>{TEXT.askNote}</p>
        <div className={styles.fields}>
          <TextField
            label={TEXT.reason}
            hint={TEXT.reasonHint}
            list={`${id}-reasons`}
            autoFocus
            {...form.text('reason')}
            {...faultAt('/reason_code')}
          />
          <datalist id={`${id}-reasons`}>
            {TEXT.reasons.map((code) => (
              <option key={code} value={code} />
            ))}
          </datalist>
          <MomentField label={TEXT.dueAt} {...form.text('dueAt')} {...faultAt('/due_at')} />
          <MomentField label={TEXT.expiresAt} {...form.text('expiresAt')} {...faultAt('/expires_at')} />
          <Select
            label={TEXT.every}
            options={[{ value: '', label: TEXT.once }, ...INTERVALS.map(([value, label]) => ({ value, label }))]}
            {...form.text('every')}
          />
        </div>
        <TextArea
          label={TEXT.message}
          rows={3}
          maxLength={MAX_MESSAGE}
          {...form.text('message')}
          {...faultAt('/message')}
        />
        <Paths chosen={form.values.paths} choose={(paths) => form.set({ paths })} {...faultAt('/requested_paths')} />
      </Form>
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
  const all = leafPointersOf(contentOf(latest.data.envelope), MAX_PATHS);
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
      {all.length > MOST_PATHS_AT_ONCE && (
        <TextField label={TEXT.findPath} value={find} onChange={(event) => setFind(event.target.value)} />
      )}
      <div className={styles.checks}>
        {found.slice(0, MOST_PATHS_AT_ONCE).map((one) => (
          <Checkbox
            key={one}
            label={<Place pointer={one} />}
            checked={chosen.includes(one)}
            onChange={(event) => toggle(one, event.target.checked)}
          />
        ))}
      </div>
      {found.length > MOST_PATHS_AT_ONCE && (
        <p className={styles.quiet}>{TEXT.morePaths(found.length - MOST_PATHS_AT_ONCE)}</p>
      )}
      {fault !== undefined && <span className={ui.fault}>{fault}</span>}
    </fieldset>
  );
}
