import { type ReactNode, useState } from 'react';
import { Button, type ButtonKind } from '../ui/button.tsx';
import type { Column } from '../ui/table/table.tsx';
import ui from '../ui/ui.module.css';

/** An action on a row: a button that opens a dialog, or does something at once. */
export interface RowAction<T> {
  readonly label: string | ((item: T) => string);
  /** Returns the name of the button for screen readers, if the label alone is ambiguous. */
  readonly nameOf?: (item: T) => string;
  readonly kind?: ButtonKind;
  /** Returns whether the row offers the action; by default every row does. */
  readonly isOffered?: (item: T) => boolean;
  readonly dialog?: (item: T, close: () => void) => ReactNode;
  readonly run?: (item: T) => void;
  readonly isPending?: boolean;
}

/** Returns the column of the buttons of each row, and the dialog that one of them opened. */
export function useRowActions<T>(title: string, actions: readonly RowAction<T>[]): [Column<T>, ReactNode] {
  const [open, setOpen] = useState<{ readonly item: T; readonly index: number } | null>(null);
  const cell = (item: T): ReactNode => (
    <span className={ui.buttons}>
      {actions.map(({ label, nameOf, kind, isOffered, run, isPending }, index) =>
        isOffered?.(item) === false ? null : (
          <Button
            key={index}
            small
            {...(kind === undefined ? {} : { kind })}
            {...(isPending === undefined ? {} : { isPending })}
            aria-label={nameOf?.(item)}
            onClick={() => (run === undefined ? setOpen({ item, index }) : run(item))}
          >
            {typeof label === 'string' ? label : label(item)}
          </Button>
        ),
      )}
    </span>
  );
  const dialog = open === null ? null : actions[open.index]?.dialog?.(open.item, () => setOpen(null));
  return [{ title, cell }, dialog];
}

interface DialogButtonProps {
  label: string;
  kind?: ButtonKind;
  small?: boolean;
  children: (close: () => void) => ReactNode;
}

/** A button that opens a dialog. */
export function DialogButton({ label, children, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}
