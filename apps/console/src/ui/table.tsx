import type { ReactNode } from 'react';
import { TEXT } from '../text/ui.ts';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';
import { Loading } from './state.tsx';
import styles from './ui.module.css';

export interface Column<T> {
  readonly title: string;
  readonly cell: (item: T) => ReactNode;
  /** The cell names its row. */
  readonly isHeader?: boolean;
}

interface TableProps<T> {
  /** What the table lists, for readers of screens. */
  caption: string;
  columns: readonly Column<T>[];
  items: readonly T[];
  keyOf: (item: T) => string;
}

export function Table<T>({ caption, columns, items, keyOf }: TableProps<T>) {
  return (
    // What is wider than the page scrolls, by keyboard too.
    <div className={styles.tableFrame} tabIndex={0} role="region" aria-label={caption}>
      <table className={styles.table}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ title, cell, isHeader }) =>
                isHeader === true ? (
                  <th key={title} scope="row">
                    {cell(item)}
                  </th>
                ) : (
                  <td key={title}>{cell(item)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Listed<T> {
  readonly items: readonly T[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
  refetch(): unknown;
}

/** A list of the API: its rows, more of them on request, and what to say where there are none. */
export function ListTable<T>({
  list,
  empty,
  ...table
}: Omit<TableProps<T>, 'items'> & { list: Listed<T>; empty: ReactNode }) {
  if (list.isPending && list.error === null) return <Loading />;
  return (
    <>
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.items.length > 0 ? <Table {...table} items={list.items} /> : list.error === null && empty}
      <More list={list} />
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
