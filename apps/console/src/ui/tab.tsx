import type { AnchorHTMLAttributes } from 'react';
import { createLink } from '@tanstack/react-router';
import styles from './ui.module.css';

interface AnchorProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** Set by the view, since the router cannot tell tabs apart by address alone. */
  isCurrent: boolean;
}

function Anchor({ isCurrent, className = styles.tab, ...rest }: AnchorProps) {
  return <a {...rest} className={className} aria-current={isCurrent ? 'page' : undefined} />;
}

/** A link to a part of a view. One of them is the current one. */
export const Tab = createLink(Anchor);
