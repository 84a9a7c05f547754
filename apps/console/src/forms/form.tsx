import type { ReactNode } from 'react';
import { type ApiCall, useAction } from '../app/api.ts';
import { TEXT } from '../text/ui.ts';
import { Button, type ButtonKind } from '../ui/button.tsx';
import { CopyCurl } from '../ui/copy/curl.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/problem.tsx';
import ui from '../ui/ui.module.css';
import type { FormState } from './use-form.ts';

interface FormProps {
  form: FormState;
  /** The label of the button that sends the form. */
  submit: string;
  children: ReactNode;
  /** Further buttons. */
  buttons?: ReactNode;
  /** The form offers its call as a curl command. */
  hasCurl?: boolean;
  /** The form shows its own errors instead of the browser's. */
  noValidate?: boolean;
  /** The button that sends comes last, at the end of a dialog. */
  isInDialog?: boolean;
}

/** Shows the fields of a form, the error of its call, and the button that sends it. */
export function Form({ form, submit, children, buttons, ...rest }: FormProps) {
  const { hasCurl = true, noValidate = false, isInDialog = false } = rest;
  const send = (
    <Button type="submit" kind="primary" isPending={form.isPending} disabled={form.isDisabled}>
      {submit}
    </Button>
  );
  return (
    <form className={ui.form} onSubmit={form.submit} noValidate={noValidate}>
      {children}
      {form.error !== null && <Problem error={form.error} />}
      <div className={isInDialog ? ui.dialogFoot : ui.actions}>
        {!isInDialog && send}
        {hasCurl && form.call !== null && <CopyCurl call={form.call} />}
        {buttons}
        {isInDialog && send}
      </div>
    </form>
  );
}

interface FormDialogProps extends Omit<FormProps, 'isInDialog'> {
  title: string;
  /** A sentence above the fields. */
  note?: string;
  /** The label of the button that closes the dialog. */
  cancel?: string;
  onClose: () => void;
}

/** A form in a dialog. */
export function FormDialog({ title, note, cancel = TEXT.cancel, buttons, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      {note !== undefined && <p>{note}</p>}
      <Form
        {...form}
        isInDialog
        buttons={
          <>
            <Button onClick={onClose}>{cancel}</Button>
            {buttons}
          </>
        }
      />
    </Dialog>
  );
}

interface ConfirmCallProps {
  title: string;
  /** The label of the button that sends the call. */
  confirm: string;
  kind?: ButtonKind;
  /** Null while there is nothing to send. */
  call: ApiCall | null;
  /** The paths whose queries are reloaded. */
  changes: readonly string[];
  /** Runs instead of `onClose` after the call. */
  onDone?: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks for confirmation, sends a call, and closes after it. A failure keeps the dialog open. */
export function ConfirmCall({ call, changes, onClose, onDone = onClose, ...rest }: ConfirmCallProps) {
  const { mutate, isPending, error } = useAction(...changes);
  return (
    <Confirm
      {...rest}
      isPending={isPending}
      error={error}
      onConfirm={() => call !== null && mutate(call, { onSuccess: onDone })}
      onClose={onClose}
    />
  );
}
