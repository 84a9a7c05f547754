import { type FormEvent, useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { api, ImportReport, SubjectType } from '@identity-state/client';
import { tenantPath, useAction, useInvalidate } from '../../app/api.ts';
import { useClient, useSession } from '../../app/context.tsx';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { firstVersion } from './first-version.ts';

const WORDS = TEXT.make;
const TYPES = Object.entries(TEXT.types).map(([value, label]) => ({ value, label }));

/** Writes the first version of a subject with its name. The form for proposals adds the rest. */
export function NewSubject({ tenantId, onClose }: { tenantId: string; onClose: () => void }) {
  const { principalId } = useSession();
  const action = useAction(tenantPath(tenantId));
  const navigate = useNavigate();
  const [type, setType] = useState<SubjectType>('organization');
  const [subjectId, setSubjectId] = useState('');
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    action.mutate(
      {
        method: 'POST',
        path: tenantPath(tenantId, 'entity-states'),
        body: firstVersion({ type, subjectId, name, by: principalId }, new Date()),
      },
      {
        onSuccess: () =>
          void navigate({
            to: '/t/$tenantId/subjects/$subjectType/$subjectId',
            params: { tenantId, subjectType: type, subjectId },
          }),
      },
    );
  };
  return (
    <Dialog title={WORDS.title} isOpen onClose={onClose}>
      <form className={ui.form} onSubmit={submit}>
        <Select
          label={TEXT.type}
          value={type}
          options={TYPES}
          onChange={(event) => setType(isType(event.target.value) ? event.target.value : 'organization')}
        />
        <TextField
          label={WORDS.id}
          hint={WORDS.idHint}
          required
          autoFocus
          value={subjectId}
          onChange={(event) => setSubjectId(event.target.value)}
        />
        <TextField label={WORDS.name} required value={name} onChange={(event) => setName(event.target.value)} />
        {action.error !== null && <Problem error={action.error} />}
        <div className={ui.dialogFoot}>
          <Button onClick={onClose}>{WORDS.cancel}</Button>
          <Button type="submit" kind="primary" isPending={action.isPending}>
            {WORDS.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function isType(text: string): text is SubjectType {
  return Object.hasOwn(TEXT.types, text);
}

const SHOWN_REFUSALS = 50;

/** Imports a file of envelopes, one per line. Shows refused lines with their reasons. */
export function ImportSubjects({ tenantId, onClose }: { tenantId: string; onClose: () => void }) {
  const client = useClient();
  const invalidate = useInvalidate();
  const [settled, setSettled] = useState<number | null>(null);
  const [report, setReport] = useState<ImportReport | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const take = async (file: File): Promise<void> => {
    setReport(null);
    setError(null);
    setSettled(0);
    try {
      const lines = (await file.text()).split('\n').filter((line) => line.trim() !== '');
      setReport(
        await client.tenant(tenantId).import(lines, { onProgress: (progress) => setSettled(progress.settled) }),
      );
      await invalidate(tenantPath(tenantId));
    } catch (problem) {
      setError(problem instanceof Error ? problem : new Error(String(problem)));
    } finally {
      setSettled(null);
    }
  };
  return (
    <Dialog title={WORDS.importTitle} isOpen onClose={onClose}>
      <Field label={WORDS.file} hint={WORDS.fileHint}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".ndjson,.jsonl,application/x-ndjson"
            disabled={settled !== null}
            onChange={({ target }) => {
              const [file] = target.files ?? [];
              if (file !== undefined) void take(file);
            }}
          />
        )}
      </Field>
      <div role="status">
        {settled !== null && WORDS.importing(settled)}
        {report !== null && WORDS.imported(report.stored, report.known, report.refused)}
      </div>
      {error !== null && <Problem error={error} />}
      {report !== null && report.refusals.length > 0 && (
        <Table
          caption={WORDS.refused}
          items={report.refusals.slice(0, SHOWN_REFUSALS)}
          keyOf={({ index }) => String(index)}
          columns={[
            { title: WORDS.line, isHeader: true, value: ({ index }) => index + 1 },
            { title: WORDS.why, value: ({ result }) => whyOf(result) },
          ]}
        />
      )}
      <div className={ui.dialogFoot}>
        <Button onClick={onClose}>{WORDS.close}</Button>
      </div>
    </Dialog>
  );
}

function whyOf({ error }: api.BatchResult): string {
  return [error?.message ?? '', ...(error?.details ?? []).map(({ path, message }) => `${path} ${message}`)].join(' ');
}
