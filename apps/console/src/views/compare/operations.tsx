import { useMemo } from 'react';
import { TEXT } from '../../text/compare.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { download } from '../../ui/download.ts';
import { FramedTable } from '../../ui/framed-table.tsx';
import ui from '../../ui/ui.module.css';
import type { Comparison } from './comparison.ts';
import { Kind, otherPlace } from './sides.tsx';
import styles from './compare.module.css';

const ROW_HEIGHT = 44;
const MAX_VALUE = 500;

/** Shows the changes as a JSON Patch (RFC 6902) from the older version to the newer one. */
export function Operations({ comparison, name }: { comparison: Comparison; name: string }) {
  const { changes } = comparison;
  const patch = useMemo(
    () =>
      JSON.stringify(
        changes.map(({ op, path, value }) => ({ op, path, ...(value === undefined ? {} : { value }) })),
        null,
        2,
      ),
    [changes],
  );
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
        titles={[TEXT.operation, TEXT.path, TEXT.value]}
        count={changes.length}
        rowHeight={ROW_HEIGHT}
        styles={{ frame: styles.ops, head: styles.opsHead, space: styles.space, row: styles.op }}
      >
        {(index) => {
          const change = changes[index];
          if (change === undefined) return null;
          const other = otherPlace(comparison, change);
          const value = change.value === undefined ? '' : JSON.stringify(change.value);
          return (
            <>
              <span role="cell">
                <code>{change.op}</code> {change.movedWith !== null && <Kind change={change} />}
              </span>
              <span role="cell">
                <code>{change.path}</code>
                {other !== null && <div className={styles.quiet}>{other}</div>}
              </span>
              <span role="cell">
                <code>{value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)} …` : value}</code>
              </span>
            </>
          );
        }}
      </FramedTable>
    </>
  );
}
