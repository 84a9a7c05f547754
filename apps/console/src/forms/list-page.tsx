import type { ReactNode } from 'react';
import { type ApiCall, type Page as PageOfList, useList } from '../app/api.ts';
import { Empty, Page, Section } from '../ui/page.tsx';
import { ListTable, type ListTableProps } from '../ui/table/table.tsx';
import ui from '../ui/ui.module.css';
import { Filters } from './filters.tsx';
import { type RowAction, useRowActions } from './row-actions.tsx';

/** A list of a call, or one that was read already. */
type Source<T> =
  | { readonly call: ApiCall<PageOfList<T>> | null; readonly list?: undefined }
  | { readonly call?: ApiCall; readonly list: ListTableProps<T>['list'] };

interface TableOfListProps<T> extends Omit<ListTableProps<T>, 'empty' | 'list'> {
  filters?: ReactNode;
  /** A plot of the items, between the filters and the table. */
  plot?: ReactNode;
  /** The words in place of an empty list. */
  empty: { readonly title: string; readonly text?: ReactNode; readonly children?: ReactNode } | null;
  /** The actions on each row, in a last column. */
  rowActions?: readonly RowAction<T>[];
  /** The title of their column. */
  actionsTitle?: string;
  /** The paths whose queries are reloaded after an action on a row. */
  changes?: readonly string[];
}

interface PartProps {
  title: string;
  /** Says what the list contains. */
  note?: ReactNode;
  actions?: ReactNode;
  /** The dialogs of the list, which come after it. */
  children?: ReactNode;
}

/** A page that is a list: its filters, its table with further rows on request, and words for an empty or failed list. */
export function ListPage<T>({
  title,
  note,
  actions,
  tabs,
  children,
  ...list
}: PartProps & TableOfListProps<T> & Source<T> & { call: ApiCall; tabs?: ReactNode }) {
  return (
    <Page title={title} note={note} actions={actions} call={list.call}>
      {tabs}
      <List {...list} />
      {children}
    </Page>
  );
}

/** A part of a page that is a list. */
export function ListSection<T>({
  title,
  note,
  actions,
  children,
  ...list
}: PartProps & TableOfListProps<T> & Source<T>) {
  return (
    <Section title={title} actions={actions}>
      <div className={ui.stack}>
        {note !== undefined && <p className={ui.quiet}>{note}</p>}
        <List {...list} />
      </div>
      {children}
    </Section>
  );
}

/** The filters and the table of a list. */
export function List<T>(props: TableOfListProps<T> & Source<T>) {
  return props.list === undefined ? <ReadList {...props} /> : <ShownList {...props} />;
}

function ReadList<T>({ call, ...table }: TableOfListProps<T> & { call: ApiCall<PageOfList<T>> | null }) {
  return <ShownList list={useList(call)} {...table} />;
}

function ShownList<T>({
  filters,
  plot,
  empty,
  columns,
  rowActions = [],
  actionsTitle,
  changes,
  ...table
}: TableOfListProps<T> & Pick<ListTableProps<T>, 'list'>) {
  const [buttons, opened] = useRowActions(rowActions, changes, actionsTitle);
  return (
    <>
      {filters !== undefined && <Filters>{filters}</Filters>}
      {plot}
      <ListTable
        {...table}
        columns={rowActions.length === 0 ? columns : [...columns, buttons]}
        empty={empty === null ? null : <Empty {...empty} />}
      />
      {opened}
    </>
  );
}
