import type { ReactNode } from 'react';
import type { ApiCall } from '../app/api.ts';
import type { ButtonKind } from '../ui/button.tsx';
import { ConfirmCall } from './form.tsx';
import { DialogButton } from './row-actions.tsx';

interface ConfirmButtonProps {
  label: string;
  kind?: ButtonKind;
  title: string;
  text: ReactNode;
  /** The label of the button that sends the call. */
  confirm: string;
  call: ApiCall;
  /** The paths whose queries are reloaded. */
  changes: readonly string[];
  onDone?: () => void;
}

/** A button that sends a call after a question. */
export function ConfirmButton({ label, kind = 'normal', text, ...question }: ConfirmButtonProps) {
  return (
    <DialogButton small kind={kind} label={label}>
      {(close) => (
        <ConfirmCall {...question} onClose={close}>
          <p>{text}</p>
        </ConfirmCall>
      )}
    </DialogButton>
  );
}
