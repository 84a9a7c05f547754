import { useSession } from '../app/context.tsx';
import { TEXT } from '../text/ui.ts';
import { Badge } from '../ui/page.tsx';
import type { Column } from '../ui/table/table.tsx';
import ui from '../ui/ui.module.css';
import { principalName } from './principal-name.ts';

/** Shows the name of a principal. The tooltip contains the whole id. */
export function Who({ id }: { id: string }) {
  const { principalId } = useSession();
  return (
    <span title={id}>
      {principalName(id)} {id === principalId && <Badge tone="accent">{TEXT.you}</Badge>}
    </span>
  );
}

/** Returns a column of principals. An item without a principal shows `nobody`. */
export function whoColumn<T>(title: string, idOf: (item: T) => string | null, nobody = ''): Column<T> {
  return {
    title,
    value: (item) => idOf(item) ?? nobody,
    cell: (item) => {
      const id = idOf(item);
      return id === null ? <span className={ui.quiet}>{nobody}</span> : <Who id={id} />;
    },
  };
}
