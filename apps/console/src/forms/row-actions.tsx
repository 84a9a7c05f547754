import { Fragment, lazy, type ReactNode, Suspense, useState } from 'react';
import { type ApiCall, useAction } from '../app/api.ts';
import { TEXT } from '../text/ui.ts';
import { Button, type ButtonKind } from '../ui/button.tsx';
import { Problem } from '../ui/page.tsx';
import type { Column } from '../ui/table/table.tsx';
import ui from '../ui/ui.module.css';

/** Loaded with the first question, since dialogs are large. */
const ConfirmCall = lazy(async () => ({ default: (await import('./form.tsx')).ConfirmCall }));

/** A question before a call that is not easily undone. */
interface Question {
  readonly title: string;
  readonly text: ReactNode;
  readonly call: ApiCall;
  /** The label of the button that sends the call; by default that of the action. */
  readonly confirm?: string;
  readonly kind?: ButtonKind;
}

/** An action on a row: a button that sends a call, at once or after a question, opens a dialog, or runs a function. */
export interface RowAction<T> {
  readonly label: string | ((item: T) => string);
  /** Returns the name of the button for screen readers, if the label alone is ambiguous. */
  readonly nameOf?: (item: T) => string;
  readonly kind?: ButtonKind;
  /** Returns whether the row offers the action; by default every row does. */
  readonly isOffered?: (item: T) => boolean;
  readonly call?: (item: T) => ApiCall;
  readonly question?: (item: T) => Question;
  readonly dialog?: (item: T, close: () => void) => ReactNode;
  readonly run?: (item: T) => void;
  /** Takes the place of the button: a link. */
  readonly link?: (item: T) => ReactNode;
}

const labelOf = <T,>({ label }: RowAction<T>, item: T): string => (typeof label === 'string' ? label : label(item));

/**
 * Returns the column of the buttons of each row, and what one of them opened: its dialog, its question, or the error of its call.
 * A call reloads the queries below the paths `changes`.
 */
export function useRowActions<T>(
  actions: readonly RowAction<T>[],
  changes: readonly string[] = [],
  title: string = TEXT.actions,
): [Column<T>, ReactNode] {
  const [open, setOpen] = useState<{ readonly item: T; readonly index: number } | null>(null);
  const { mutate, isPending, error } = useAction(...changes);
  const start = (item: T, index: number): void => {
    const action = actions[index];
    if (action?.call !== undefined) mutate(action.call(item));
    else if (action?.run !== undefined) action.run(item);
    else setOpen({ item, index });
  };
  const cell = (item: T): ReactNode => (
    <span className={ui.buttons}>
      {actions.map((action, index) => {
        if (action.isOffered?.(item) === false) return null;
        if (action.link !== undefined) return <Fragment key={index}>{action.link(item)}</Fragment>;
        return (
          <Button
            key={index}
            small
            kind={action.kind ?? 'normal'}
            isPending={isPending && action.call !== undefined}
            aria-label={action.nameOf?.(item)}
            onClick={() => start(item, index)}
          >
            {labelOf(action, item)}
          </Button>
        );
      })}
    </span>
  );
  const opened = open === null ? undefined : actions[open.index];
  const close = (): void => setOpen(null);
  return [
    { title, cell },
    <>
      {error !== null && <Problem error={error} />}
      {open !== null && opened?.dialog?.(open.item, close)}
      {open !== null && opened?.question !== undefined && (
        <Asked
          action={opened}
          item={open.item}
          question={opened.question(open.item)}
          changes={changes}
          onClose={close}
        />
      )}
    </>,
  ];
}

interface AskedProps<T> {
  action: RowAction<T>;
  item: T;
  question: Question;
  changes: readonly string[];
  onClose: () => void;
}

function Asked<T>({ action, item, question: { text, confirm, ...question }, changes, onClose }: AskedProps<T>) {
  return (
    <Suspense>
      <ConfirmCall {...question} confirm={confirm ?? labelOf(action, item)} changes={changes} onClose={onClose}>
        <p>{text}</p>
      </ConfirmCall>
    </Suspense>
  );
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
