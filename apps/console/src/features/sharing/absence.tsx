import type { ReactNode } from 'react';
import { OF_SUBJECT, type SubjectAddress } from '../../app/address.ts';
import { apiCall, useWholeList } from '../../app/api.ts';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Notice } from '../../ui/page.tsx';
import ui from '../../ui/ui.module.css';
import { MOST_DISCLOSURES } from './disclosures.tsx';
import { LogProofDialog } from './log-proof.tsx';
import { TEXT } from './words.ts';

const WORDS = TEXT.proving;

interface SubjectDialogProps {
  subject: SubjectAddress;
  onClose: () => void;
}

/** Offers a proof from the map. Shows nothing if the log has none. */
export function MapProofButton({
  label,
  note,
  children,
}: {
  label: string;
  note?: string;
  children: (close: () => void) => ReactNode;
}) {
  const { hasMap } = useTrustedKeys();
  if (!hasMap) return null;
  return (
    <div className={ui.stack}>
      {note !== undefined && <p className={ui.quiet}>{note}</p>}
      <div>
        <DialogButton label={label}>{children}</DialogButton>
      </div>
    </div>
  );
}

/** Proves how many grants on the subject the log has for this tenant. */
export function GrantsToTenant({ subject, onClose }: SubjectDialogProps) {
  const { tenantId } = subject;
  return (
    <CountDialog subject={subject} stream="p" holder={{ tenant_id: tenantId }} onClose={onClose}>
      {(count) => <Notice tone={count === 0 ? 'good' : 'plain'}>{WORDS.grantsTo(count, tenantId)}</Notice>}
    </CountDialog>
  );
}

/** Compares the list of disclosures with the number of them that the log has, and proves each of the first ones. */
export function DisclosureCount({ subject, onClose }: SubjectDialogProps) {
  const list = useWholeList(
    apiCall('GET', `${OF_SUBJECT}/disclosures`, { path: subject.ids, query: { limit: 200 } }),
    MOST_DISCLOSURES,
  );
  const listed = list.items.length;
  return (
    <CountDialog subject={subject} stream="r" recordsFrom={1} onClose={onClose}>
      {(logged) => {
        if (!list.isWhole) return listed < MOST_DISCLOSURES ? null : <p>{WORDS.isUncounted(listed, logged)}</p>;
        if (listed < logged) return <Notice tone="bad">{WORDS.isShort(listed, logged)}</Notice>;
        if (listed > logged) return <Notice tone="warn">{WORDS.isAhead(listed, logged)}</Notice>;
        return <Notice tone="good">{WORDS.isComplete(logged)}</Notice>;
      }}
    </CountDialog>
  );
}

/** Proves the number of facts in a stream of the map. */
function CountDialog({
  subject: { tenantId, ids },
  stream,
  recordsFrom,
  holder = {},
  children,
  onClose,
}: SubjectDialogProps & {
  stream: 'p' | 'r';
  /** Proves the records from this number on as well. */
  recordsFrom?: number;
  /** The tenant in the name of the stream, after the subject. */
  holder?: { readonly tenant_id?: string };
  children: (count: number) => ReactNode;
}) {
  const call = apiCall('GET', `${OF_SUBJECT}/absence-proof`, {
    path: ids,
    query: { stream, records_from: recordsFrom },
  });
  const { subject_type, subject_id } = ids;
  return (
    <LogProofDialog
      tenantId={tenantId}
      call={call}
      expected={{ stream, subject: { subject_type, subject_id }, ...holder }}
      meaning={({ number }) => children(number - 1)}
      onClose={onClose}
    />
  );
}
