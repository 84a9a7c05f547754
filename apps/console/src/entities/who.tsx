import { useSession } from '../app/context.tsx';
import { principalName } from '../text/principal.ts';
import { TEXT } from '../text/ui.ts';
import { Badge } from '../ui/state.tsx';

/** Shows the name of a principal. The tooltip contains the whole id. */
export function Who({ id }: { id: string }) {
  const { principalId } = useSession();
  return (
    <span title={id}>
      {principalName(id)} {id === principalId && <Badge tone="accent">{TEXT.you}</Badge>}
    </span>
  );
}
