import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FactProof, type ProvenFact, WAIT_S } from '../verify/fact-proof.tsx';
import ui from '../../ui/ui.module.css';
import { TEXT } from './words.ts';

const WORDS = TEXT.proving;

/** Verifies the transparency log's proof of a fact. */
export function LogProofDialog<T extends object>({
  tenantId,
  call,
  children,
  onClose,
  ...fact
}: ProvenFact<T> & {
  tenantId: string;
  /** The choice of a fact, if there are several. */
  children?: ReactNode;
  onClose: () => void;
}) {
  const waiting = { ...call, query: { ...call.query, wait: WAIT_S } };
  return (
    <Dialog title={WORDS.title} onClose={onClose}>
      <div className={ui.stack}>
        {children}
        <FactProof {...fact} call={waiting} name={WORDS.proof} />
      </div>
      <div className={ui.dialogFoot}>
        <CopyCurl call={waiting} />
        <Link to="/t/$tenantId/log" params={{ tenantId }}>
          {WORDS.toLog}
        </Link>
        <Button onClick={onClose}>{WORDS.close}</Button>
      </div>
    </Dialog>
  );
}
