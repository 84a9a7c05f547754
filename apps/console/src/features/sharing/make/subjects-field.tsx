import { useDeferredValue, useState } from 'react';
import { apiCall, useList } from '../../../app/api.ts';
import { Button } from '../../../ui/button.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { Problem } from '../../../ui/page.tsx';
import { TEXT } from '../words.ts';
import ui from '../../../ui/ui.module.css';
import styles from '../styles.module.css';
import { Either } from './grant-fields.tsx';

const WORDS = TEXT.make;
const FOUND = 6;

interface SubjectsFieldProps {
  tenantId: string;
  /** True for all subjects of the tenant. */
  isAll: boolean;
  /** One subject on each line: `organization/acme-corp`. */
  subjects: string;
  fault: string | undefined;
  onChange: (change: { isAll?: boolean; subjects?: string }) => void;
}

/** Chooses all subjects of the tenant, or some of them. */
export function SubjectsField({ tenantId, isAll, subjects, fault, onChange }: SubjectsFieldProps) {
  const add = (id: string): void =>
    onChange({ subjects: `${subjects.replace(/\n*$/, subjects === '' ? '' : '\n')}${id}\n` });
  return (
    <>
      <Either
        legend={WORDS.what}
        labels={[WORDS.some, WORDS.all]}
        value={isAll}
        onChange={(all) => onChange({ isAll: all })}
      />
      {!isAll && (
        <>
          <TextArea
            label={WORDS.subjects}
            hint={WORDS.subjectsHint}
            rows={3}
            value={subjects}
            fault={fault}
            onChange={(event) => onChange({ subjects: event.target.value })}
          />
          <FindSubject tenantId={tenantId} onChoose={add} />
        </>
      )}
    </>
  );
}

/** Finds own subjects by the beginning of their names. A button adds each found subject. */
function FindSubject({ tenantId, onChoose }: { tenantId: string; onChoose: (subject: string) => void }) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const call = apiCall('GET', '/v1/tenants/{tenant_id}/subjects', {
    path: { tenant_id: tenantId },
    query: { q, limit: FOUND },
  });
  const list = useList(q === '' ? null : call);
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
        <div className={ui.row}>
          {list.items.map(({ subject_type: type, subject_id: id }) => {
            const subject = `${type}/${id}`;
            return (
              <Button key={subject} small aria-label={WORDS.addOne(subject)} onClick={() => onChoose(subject)}>
                + {subject}
              </Button>
            );
          })}
        </div>
      )}
    </div>
  );
}
