import { useMemo } from 'react';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { download } from '../../ui/download.ts';
import { FramedTable } from '../../ui/table/framed-table.tsx';
import type { Column } from '../../ui/table/sortable.tsx';
import ui from '../../ui/ui.module.css';
import type { Change } from './comparison.ts';
import { KindLabel, otherPlace } from './sides.tsx';
import { TEXT } from './words.ts';
import styles from './compare.module.css';

const ROW_HEIGHT = 44;
const MAX_VALUE = 500;

/** A change whose value is only shown. */
type Operation = Omit<Change, 'value' | 'before'> & { readonly value?: unknown };

/** Shows the changes as a JSON Patch (RFC 6902) from the older version to the newer one. */
export function Operations({ changes, name }: { changes: readonly Operation[]; name: string }) {
  const patch = useMemo(
    () =>
      JSON.stringify(
        changes.map(({ op, path, value }) => ({ op, path, ...(value === undefined ? {} : { value }) })),
        null,
        2,
      ),
    [changes],
  );
  const columns: readonly Column<Operation>[] = [
    {
      title: TEXT.operation,
      value: ({ op }) => op,
      cell: (change) => (
        <>
          <code>{change.op}</code> {change.movedWith !== null && <KindLabel change={change} />}
        </>
      ),
    },
    {
      title: TEXT.path,
      value: ({ path }) => path,
      cell: (change) => {
        const other = otherPlace(changes, change);
        return (
          <>
            <code>{change.path}</code>
            {other !== null && <div className={styles.quiet}>{other}</div>}
          </>
        );
      },
    },
    {
      title: TEXT.value,
      value: ({ value }) => (value === undefined ? null : JSON.stringify(value)),
      cell: ({ value }) => {
        const text = value === undefined ? '' : JSON.stringify(value);
        return <code>{text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)} …` : text}</code>;
      },
    },
  ];
  return (
    <>
      <div className={ui.pageHead}>
        <p className={styles.counts}>{TEXT.counts(changes.length)}</p>
        <div className={ui.actions}>
          <Copy text={patch} label={TEXT.copyOps} />
          <Button small onClick={() => download(name, 'application/json-patch+json', [patch, '\n'])}>
            {TEXT.takeOps}
          </Button>
        </div>
      </div>
      <FramedTable
        label={TEXT.opsLabel}
        columns={columns}
        items={changes}
        rowHeight={ROW_HEIGHT}
        styles={{ frame: styles.ops, head: styles.opsHead, space: styles.space, row: styles.op }}
      />
    </>
  );
}
