import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { CopyCurl } from '../../ui/copy.tsx';
import { ShownDialog } from '../../ui/dialog.tsx';
import { FactProof, type ProvenFact, WAIT_S } from '../verify/fact-proof.tsx';
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
    <ShownDialog
      title={WORDS.title}
      buttons={
        <>
          <CopyCurl call={waiting} />
          <Link to="/t/$tenantId/log" params={{ tenantId }}>
            {WORDS.toLog}
          </Link>
        </>
      }
      close={WORDS.close}
      onClose={onClose}
    >
      {children}
      <FactProof {...fact} call={waiting} name={WORDS.proof} />
    </ShownDialog>
  );
}
