import type { api, SubjectType } from '@identity-state/client';
import { Badge, Empty } from '../ui/state.tsx';
import type { Column } from '../ui/table/table.tsx';
import { SubjectLink } from './subject-link.tsx';
import { SUBJECT } from './subject-words.ts';

/** Links to a subject of the tenant. An erased version has no name. */
export function OwnSubject({ tenantId, subject }: { tenantId: string; subject: api.Subject }) {
  const { subject_type: type, subject_id: id, name, latest_snapshot: latest } = subject;
  const version = latest.erased === undefined ? latest.snapshot_version : null;
  return <SubjectLink tenantId={tenantId} type={type} id={id} name={name} version={version} />;
}

/** Links to a subject of another tenant, with its name if the grant shows values. */
function GrantedSubject({ tenantId, granted }: { tenantId: string; granted: api.AccessibleSubject }) {
  const { subject_type: type, subject_id: id, name, scopes, latest_snapshot: latest } = granted;
  const isNamed = latest?.erased === undefined && scopes.includes('read_lineage');
  const version = isNamed ? (latest?.snapshot_version ?? null) : null;
  return <SubjectLink tenantId={tenantId} type={type} id={id} name={name} version={version} />;
}

export function ownSubjectColumn(tenantId: string): Column<api.Subject> {
  return {
    title: SUBJECT.subject,
    isHeader: true,
    value: ({ subject_id: id }) => id,
    cell: (subject) => <OwnSubject tenantId={tenantId} subject={subject} />,
  };
}

export function grantedSubjectColumn(tenantId: string): Column<api.AccessibleSubject> {
  return {
    title: SUBJECT.subject,
    isHeader: true,
    value: ({ subject_id: id }) => id,
    cell: (granted) => <GrantedSubject tenantId={tenantId} granted={granted} />,
  };
}

export const SUBJECT_TYPE: Column<{ subject_type: SubjectType }> = {
  title: SUBJECT.type,
  value: ({ subject_type: type }) => SUBJECT.types[type],
  cell: ({ subject_type: type }) => <Badge>{SUBJECT.types[type]}</Badge>,
};

export function keyOfSubject({
  subject_type: type,
  subject_id: id,
}: {
  subject_type: string;
  subject_id: string;
}): string {
  return `${type}/${id}`;
}

/** Shown to members whose flag does not allow counterparty access. */
export function NoGrantsUsed() {
  return <Empty title={SUBJECT.noGrantsUsed} text={SUBJECT.noGrantsUsedText} />;
}
