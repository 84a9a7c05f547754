import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { TEXT } from '../text/ui.ts';
import { Button, type ButtonKind } from './button.tsx';
import { Problem } from './page.tsx';
import styles from './ui.module.css';

interface DialogProps {
  title: string;
  isOpen?: boolean;
  onClose: () => void;
  children: ReactNode;
  role?: 'dialog' | 'alertdialog';
}

/** A modal dialog: it keeps the focus, returns it, and closes with Escape, but not with a click outside. */
export function Dialog({ title, isOpen = true, onClose, children, role = 'dialog' }: DialogProps) {
  return (
    <ModalOverlay className={styles.overlay ?? ''} isOpen={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Modal className={styles.modal ?? ''}>
        <AriaDialog className={styles.dialog ?? ''} role={role}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ShownDialogProps extends Omit<DialogProps, 'role'> {
  /** The label of the button that closes the dialog. */
  close: string;
  /** Further buttons. */
  buttons?: ReactNode;
  /** The content is shown only once, so only the button closes the dialog. */
  isOnce?: boolean;
}

/** A dialog that shows something and asks for nothing. */
export function ShownDialog({ close, buttons, isOnce = false, children, onClose, ...dialog }: ShownDialogProps) {
  return (
    <Dialog
      {...dialog}
      role={isOnce ? 'alertdialog' : 'dialog'}
      onClose={() => {
        if (!isOnce) onClose();
      }}
    >
      <div className={styles.stack}>{children}</div>
      <div className={styles.dialogFoot}>
        {buttons}
        <Button kind="primary" onClick={onClose}>
          {close}
        </Button>
      </div>
    </Dialog>
  );
}

interface ConfirmProps extends Omit<DialogProps, 'role'> {
  confirm: string;
  kind?: ButtonKind;
  isPending: boolean;
  error: Error | null;
  onConfirm: () => void;
}

/** Asks for confirmation of an action that cannot be undone, and shows why it failed. */
export function Confirm({ confirm, kind = 'danger', isPending, error, onConfirm, children, ...dialog }: ConfirmProps) {
  return (
    <Dialog {...dialog} role="alertdialog">
      {children}
      {error !== null && <Problem error={error} />}
      <div className={styles.dialogFoot}>
        <Button onClick={dialog.onClose}>{TEXT.cancel}</Button>
        <Button kind={kind} isPending={isPending} onClick={onConfirm}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}
