import { useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { api, ImportReport, SubjectType } from '@identity-state/client';
import { tenantPath, useAction, useInvalidate } from '../../app/api.ts';
import { useClient, useSession } from '../../app/context.tsx';
import { SUBJECT } from '../../entities/subject.tsx';
import { FormDialog, useForm } from '../../forms/form.tsx';
import { ShownDialog } from '../../ui/dialog.tsx';
import { Field, Select, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/page.tsx';
import { Table } from '../../ui/table/table.tsx';
import { firstVersionCall } from './first-version.ts';
import { TEXT } from './words.ts';

const WORDS = TEXT.make;
const TYPES: readonly SubjectType[] = ['organization', 'individual', 'entity'];

/** Writes the first version of a subject with its name. The form for proposals adds the rest. */
export function NewSubject({ tenantId, onClose }: { tenantId: string; onClose: () => void }) {
  const { principalId } = useSession();
  const navigate = useNavigate();
  const start: { type: SubjectType; subjectId: string; name: string } = {
    type: 'organization',
    subjectId: '',
    name: '',
  };
  const form = useForm({
    start,
    action: useAction(tenantPath(tenantId)),
    callOf: (values) => firstVersionCall(tenantId, { ...values, by: principalId }),
    onDone: (_, { type: subjectType, subjectId }) =>
      void navigate({
        to: '/t/$tenantId/subjects/$subjectType/$subjectId',
        params: { tenantId, subjectType, subjectId },
      }),
  });
  return (
    <FormDialog
      title={WORDS.title}
      form={form}
      submit={WORDS.create}
      hasCurl={false}
      cancel={WORDS.cancel}
      onClose={onClose}
    >
      <Select
        label={SUBJECT.type}
        options={TYPES.map((value) => ({ value, label: SUBJECT.types[value] }))}
        {...form.choice('type', TYPES)}
      />
      <TextField label={WORDS.id} hint={WORDS.idHint} required autoFocus {...form.text('subjectId')} />
      <TextField label={WORDS.name} required {...form.text('name')} />
    </FormDialog>
  );
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
    <ShownDialog title={WORDS.importTitle} close={WORDS.close} onClose={onClose}>
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
    </ShownDialog>
  );
}

function whyOf({ error }: api.BatchResult): string {
  return [error?.message ?? '', ...(error?.details ?? []).map(({ path, message }) => `${path} ${message}`)].join(' ');
}
