import { type ReactNode, useState } from 'react';
import { TEXT } from '../../text/ui.ts';
import { Button } from '../button.tsx';
import { Loading, Problem } from '../page.tsx';
import { usePrinting } from '../print.ts';
import styles from '../ui.module.css';
import { ariaSortOf, type Column, Foot, Heading, shownCell, useSorted } from './sortable.tsx';
import { useToEnd } from './to-end.ts';

export { badgeColumn, type Column, hashColumn, orQuiet } from './sortable.tsx';

const ROWS = 50;

interface TableProps<T> {
  /** The name of the table for screen readers. */
  caption: string;
  columns: readonly Column<T>[];
  items: readonly T[];
  keyOf: (item: T) => string;
}

interface TableOfListProps<T> extends TableProps<T> {
  /** Reads further pages of the list. Sorting and files read all of them. */
  more?: Pick<Listed<T>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'> & {
    readonly isReading: boolean;
    readonly onWhole: () => void;
  };
}

/** A table that can be sorted and exported. On a narrow page the cells of a row are stacked. */
export function Table<T>({ caption, columns, items, keyOf, more }: TableOfListProps<T>) {
  const { sorted, sort, sortBy } = useSorted(columns, items);
  const [count, setCount] = useState(ROWS);
  const isPrinting = usePrinting();
  const hasNextPage = more?.hasNextPage === true;
  const onWhole = (): void => more?.onWhole();
  const onSort = (title: string): void => {
    onWhole();
    sortBy(title);
  };
  const showMore = (): void => {
    setCount(count + ROWS);
    if (hasNextPage && items.length < count + ROWS) more?.fetchNextPage();
  };
  return (
    <div>
      {/* A table wider than the page scrolls, also by keyboard. */}
      <div className={styles.tableFrame} tabIndex={0} role="region" aria-label={caption}>
        {/* The explicit roles remain when a narrow page displays rows as blocks. */}
        <table className={styles.table} role="table">
          <caption className="visually-hidden">{caption}</caption>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <th key={column.title} scope="col" role="columnheader" aria-sort={ariaSortOf(column.title, sort)}>
                  <Heading column={column} sort={sort} onSort={onSort} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {(isPrinting ? sorted : sorted.slice(0, count)).map((item) => (
              <tr key={keyOf(item)} role="row">
                {columns.map((column) =>
                  column.isHeader === true ? (
                    <th key={column.title} scope="row" role="rowheader" data-title={column.title}>
                      {shownCell(column, item)}
                    </th>
                  ) : (
                    <td key={column.title} role="cell" data-title={column.title}>
                      {shownCell(column, item)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Foot
        caption={caption}
        columns={columns}
        items={sorted}
        isWhole={!hasNextPage}
        isReading={more?.isReading === true}
        onWhole={onWhole}
      />
      <More
        list={{
          hasNextPage: hasNextPage || count < items.length,
          isFetchingNextPage: more?.isFetchingNextPage === true,
          fetchNextPage: showMore,
        }}
      />
    </div>
  );
}

interface Listed<T> {
  readonly items: readonly T[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
  refetch(): unknown;
}

export interface ListTableProps<T> extends Omit<TableProps<T>, 'items'> {
  list: Listed<T>;
  empty: ReactNode;
}

/** Shows a list of the API, further rows on request, and a text if it is empty. */
export function ListTable<T>({ list, empty, ...table }: ListTableProps<T>) {
  const [isWanted, setWanted] = useState(false);
  const isReading = useToEnd(list, isWanted);
  if (list.isPending && list.error === null) return <Loading />;
  return (
    <>
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.items.length > 0 ? (
        <Table {...table} items={list.items} more={{ ...list, isReading, onWhole: () => setWanted(true) }} />
      ) : (
        <>
          {list.error === null && empty}
          <More list={list} />
        </>
      )}
    </>
  );
}

export function More({
  list,
}: {
  list: Pick<Listed<unknown>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
}) {
  if (!list.hasNextPage) return null;
  return (
    <div className={styles.more}>
      <Button isPending={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {list.isFetchingNextPage ? TEXT.loading : TEXT.more}
      </Button>
    </div>
  );
}
