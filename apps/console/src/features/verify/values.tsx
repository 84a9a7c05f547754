import { useEffect, useMemo, useState } from 'react';
import { parsePointer } from '@iss/domain/pure';
import type { ProvedVersion } from '@iss/proof';
import { ShownDialog } from '../../ui/dialog.tsx';
import { Loaded, Notice } from '../../ui/page.tsx';
import { FramedTable } from '../../ui/table/framed-table.tsx';
import type { Column } from '../../ui/table/sortable.tsx';
import { Json } from '../../ui/text/json.tsx';
import { textOfValue } from '../../ui/text/place.tsx';
import { type Leaf, leavesOf } from '../subject/leaves.ts';
import type { VersionValues } from './job.ts';
import { TEXT } from './words.ts';
import styles from './verify.module.css';

const ROW_HEIGHT = 40;
const MAX_SHOWN = 600;

export type ReadValues = (version: ProvedVersion) => Promise<VersionValues>;

/** Shows the values of a verified version, and the members of its line that no hash covers. */
export function ValuesDialog({
  version,
  read,
  onClose,
}: {
  version: ProvedVersion;
  read: ReadValues;
  onClose: () => void;
}) {
  const [data, setData] = useState<VersionValues>();
  const [error, setError] = useState<Error | null>(null);
  const load = (): void => void read(version).then(setData, setError);
  useEffect(load, [version]);
  return (
    <ShownDialog title={TEXT.valuesOf(version.version)} close={TEXT.close} onClose={onClose}>
      <Loaded query={{ data, error, refetch: load }}>{(values) => <Values values={values} />}</Loaded>
    </ShownDialog>
  );
}

const COLUMNS: readonly Column<Leaf>[] = [
  { title: TEXT.attribute, value: ({ path }) => parsePointer(path).slice(1).join(' / ') },
  {
    title: TEXT.value,
    value: ({ value }) => textOfValue(value),
    cell: ({ value }) => textOfValue(value).slice(0, MAX_SHOWN),
  },
];

function Values({ values: { attributes, unhashed } }: { values: VersionValues }) {
  const leaves = useMemo(() => leavesOf(attributes), [attributes]);
  return (
    <>
      <FramedTable
        label={TEXT.values}
        columns={COLUMNS}
        items={leaves}
        rowHeight={ROW_HEIGHT}
        styles={{ frame: styles.lines, head: styles.pair, space: styles.pairs, row: styles.pair }}
      />
      <Notice tone="warn">{TEXT.unhashed}</Notice>
      <Json label={TEXT.unhashedLabel} value={unhashed} />
    </>
  );
}
