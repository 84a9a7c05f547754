import { GRANT } from '../../../entities/grant.tsx';
import { Button } from '../../../ui/button.tsx';
import { ShownDialog } from '../../../ui/dialog.tsx';
import { Notice, Problem } from '../../../ui/page.tsx';
import { Table } from '../../../ui/table/table.tsx';
import { TEXT } from '../words.ts';
import type { GrantRequestsOutcome } from './grants-to-make.ts';

const WORDS = TEXT.make;

interface MadeGrantsProps {
  outcome: GrantRequestsOutcome;
  action: { readonly error: Error | null; readonly isPending: boolean };
  /** Requests the refused grants again. */
  onAgain: () => void;
  onClose: () => void;
}

/** Shows which grants were created, wait, and were refused. */
export function MadeGrants({ outcome: { made, waiting, refused }, action, onAgain, onClose }: MadeGrantsProps) {
  return (
    <ShownDialog
      title={WORDS.title}
      buttons={
        refused.length > 0 && (
          <Button isPending={action.isPending} onClick={onAgain}>
            {WORDS.again}
          </Button>
        )
      }
      close={WORDS.close}
      onClose={onClose}
    >
      {made > 0 && (
        <div role="status">
          <Notice tone="good">{WORDS.made(made)}</Notice>
        </div>
      )}
      {waiting > 0 && (
        <div role="status">
          <Notice tone="warn">{WORDS.waiting(waiting)}</Notice>
        </div>
      )}
      {refused.length > 0 && (
        <>
          <p role="status">{WORDS.refused(refused.length)}</p>
          <Table
            caption={WORDS.refusedCaption}
            items={refused}
            keyOf={({ body }) => JSON.stringify(body)}
            columns={[
              { title: GRANT.grantee, isHeader: true, value: ({ body }) => body.grantee_tenant_id },
              { title: GRANT.subject, value: ({ body }) => body.subject_id ?? GRANT.allSubjects },
              { title: WORDS.why, value: ({ why }) => why },
            ]}
          />
        </>
      )}
      {action.error !== null && <Problem error={action.error} />}
    </ShownDialog>
  );
}
