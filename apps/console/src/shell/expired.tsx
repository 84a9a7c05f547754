import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useSession } from '../app/context.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Notice } from '../ui/page.tsx';
import { TEXT } from './words.ts';

/** Covers the page, which keeps all typed input, until the user signs in again. */
export default function Expired() {
  const session = useSession();
  const queries = useQueryClient();
  const [isRefused, setRefused] = useState(false);
  const again = (): void => {
    setRefused(false);
    session.signInAgain().then(
      () => void queries.invalidateQueries(),
      () => setRefused(true),
    );
  };
  return (
    <Dialog title={TEXT.expiredTitle} role="alertdialog" isOpen onClose={() => undefined}>
      <p>{TEXT.expiredText}</p>
      {isRefused && <Notice tone="warn">{TEXT.windowClosed}</Notice>}
      <Button kind="primary" onClick={again} autoFocus>
        {TEXT.signInAgain}
      </Button>
    </Dialog>
  );
}
