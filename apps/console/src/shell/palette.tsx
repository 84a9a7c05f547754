import { Autocomplete, Input, ListBox, ListBoxItem, SearchField, useFilter } from 'react-aria-components';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useTenants } from '../app/api.ts';
import { useSession } from '../app/context.tsx';
import { TEXT as TENANTS } from '../features/tenants/words.ts';
import { Dialog } from '../ui/dialog.tsx';
import ui from '../ui/ui.module.css';
import { TEXT } from './words.ts';
import styles from './palette.module.css';

interface Command {
  readonly id: string;
  readonly name: string;
  readonly where: string;
  readonly run: () => unknown;
}

/** Lists every view and tenant by name (Ctrl-K). */
export default function Palette({ tenantId, onClose }: { tenantId: string | null; onClose: () => void }) {
  const { contains } = useFilter({ sensitivity: 'base' });
  const commands = useCommands(tenantId);
  const run = (id: string): void => {
    onClose();
    commands.find((command) => command.id === id)?.run();
  };
  return (
    <Dialog title={TEXT.commands} isOpen onClose={onClose}>
      <Autocomplete filter={contains}>
        <SearchField aria-label={TEXT.commands} autoFocus>
          <Input className={ui.input ?? ''} placeholder={TEXT.commandsPlaceholder} />
        </SearchField>
        <ListBox
          className={styles.list ?? ''}
          aria-label={TEXT.commands}
          items={commands}
          onAction={(key) => run(String(key))}
          renderEmptyState={() => TEXT.noCommand}
        >
          {({ name, where }) => (
            <ListBoxItem className={styles.item ?? ''} textValue={`${name} ${where}`}>
              <span>{name}</span>
              <span className={styles.where}>{where}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Autocomplete>
    </Dialog>
  );
}

function useCommands(tenantId: string | null): Command[] {
  const navigate = useNavigate();
  const session = useSession();
  const { items } = useTenants();
  const { subjectType, subjectId } = useParams({ strict: false });
  const go = (id: string, name: string, where: string, to: string): Command => ({
    id,
    name,
    where,
    run: () => navigate({ to }),
  });
  const tenant = tenantId === null ? '' : `/t/${encodeURIComponent(tenantId)}`;
  const subject =
    tenantId === null || subjectType === undefined || subjectId === undefined
      ? ''
      : `${tenant}/subjects/${subjectType}/${encodeURIComponent(subjectId)}`;
  const { verify, ...views } = TEXT.nav;
  const { attributes, ...tabs } = TEXT.subjectTabs;
  return [
    ...(subject === ''
      ? []
      : [
          go('subject', attributes, subjectId ?? '', subject),
          ...Object.entries(tabs).map(([tab, name]) =>
            go(`subject/${tab}`, name, subjectId ?? '', `${subject}/${tab}`),
          ),
        ]),
    ...(tenantId === null
      ? []
      : Object.entries(views).map(([view, name]) => go(view, name, tenantId, `${tenant}/${view}`))),
    go('tenants', TENANTS.title, '', '/tenants'),
    go('verify', verify, '', '/verify'),
    ...items.map((one) =>
      go(`tenant/${one.tenant_id}`, one.name, TEXT.tenant, `/t/${encodeURIComponent(one.tenant_id)}/subjects`),
    ),
    { id: 'sign-out', name: TEXT.signOut, where: session.subject, run: () => session.signOut() },
  ];
}
