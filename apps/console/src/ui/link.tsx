import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from 'react';
import { createLink, useRouter } from '@tanstack/react-router';
import styles from './ui.module.css';

interface AnchorProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** Set by the view, since the router cannot tell tabs apart by address alone. */
  isCurrent: boolean;
  /** Set if the element around the tabs styles them. */
  isPlain?: boolean;
}

/** Ignores the class that the router gives to a link to the current address. */
function Anchor({ isCurrent, isPlain = false, ...rest }: AnchorProps) {
  return <a {...rest} className={isPlain ? undefined : styles.tab} aria-current={isCurrent ? 'page' : undefined} />;
}

/** A link to a part of a view. One of them is the current one. */
export const Tab = createLink(Anchor);

/** A link for long tables, which renders much faster than the router's own. `to` is an address without the base. */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  const { history, basepath } = useRouter();
  const follow = (event: MouseEvent): void => {
    // The browser opens a new tab or window itself.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    history.push(basepath + to);
  };
  return (
    <a href={basepath + to} onClick={follow}>
      {children}
    </a>
  );
}
