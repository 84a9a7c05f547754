import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { decodeHash, leafHash, parseCheckpoint, parseNote, verifyInclusion } from '@iss/tlog';
import type { api, Query } from '@identity-state/client';
import { useGet } from '../../app/api.ts';
import { TEXT } from '../../text/sharing.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Json } from '../../ui/json.tsx';
import { Answer, Notice } from '../../ui/state.tsx';
import ui from '../../ui/ui.module.css';
import styles from './sharing.module.css';

const WORDS = TEXT.proving;
const WAIT_SECONDS = 10;

/** What the transparency log has of a fact, with the path from the entry to the checkpoint computed here. */
export function LogProofDialog({
  tenantId,
  path,
  query = {},
  children,
  onClose,
}: {
  tenantId: string;
  path: string;
  query?: Query;
  /** Which fact, where there are several. */
  children?: ReactNode;
  onClose: () => void;
}) {
  // What was written a moment ago is waited for.
  const asked = { ...query, wait: WAIT_SECONDS };
  const proof = useGet<api.LogProof>(path, asked);
  return (
    <Dialog title={WORDS.title} isOpen onClose={onClose}>
      <div className={styles.stack}>
        {children}
        <Answer query={proof.error === null ? proof : { ...proof, data: undefined }}>
          {(data) => (
            <>
              <Inclusion proof={data} />
              <h3>{WORDS.entry}</h3>
              <Json label={WORDS.entry} value={parsed(data.entry)} />
              <h3>{WORDS.path}</h3>
              <Json label={WORDS.path} value={data} />
            </>
          )}
        </Answer>
      </div>
      <div className={ui.dialogFoot}>
        <CopyCurl call={{ method: 'GET', path, query: asked }} />
        <Link to="/t/$tenantId/log" params={{ tenantId }}>
          {WORDS.toLog}
        </Link>
        <Button onClick={onClose}>{WORDS.close}</Button>
      </div>
    </Dialog>
  );
}

function Inclusion({ proof }: { proof: api.LogProof }) {
  if (proof.checkpoint === null) return <Notice tone="warn">{WORDS.noCheckpoint}</Notice>;
  return isIncluded(proof, proof.checkpoint) ? (
    <Notice tone="good">{WORDS.holds(proof.log_index, proof.tree_size)}</Notice>
  ) : (
    <Notice tone="bad">{WORDS.broken}</Notice>
  );
}

function isIncluded({ entry, log_index: index, inclusion }: api.LogProof, note: string): boolean {
  try {
    const tree = parseCheckpoint(parseNote(note).text);
    const leaf = leafHash(new TextEncoder().encode(entry));
    verifyInclusion(
      leaf,
      index,
      tree,
      inclusion.map((hash) => decodeHash(hash, 'hash of the inclusion proof')),
    );
    return true;
  } catch {
    return false;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
