import type { AnchorHTMLAttributes } from 'react';
import { createLink } from '@tanstack/react-router';
import styles from './ui.module.css';

interface AnchorProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** Set by the view, since the router cannot tell tabs apart by address alone. */
  isCurrent: boolean;
  /** Set where the element around the tabs styles them. */
  isPlain?: boolean;
}

/** Ignores the class that the router gives to a link to the current address. */
function Anchor({ isCurrent, isPlain = false, ...rest }: AnchorProps) {
  return <a {...rest} className={isPlain ? undefined : styles.tab} aria-current={isCurrent ? 'page' : undefined} />;
}

/** A link to a part of a view. One of them is the current one. */
export const Tab = createLink(Anchor);
