import type { ReactNode } from 'react';
import type { ApiCall } from '../app/api.ts';
import { Empty, Page, Section } from '../ui/page.tsx';
import { ListTable, type ListTableProps } from '../ui/table/table.tsx';
import ui from '../ui/ui.module.css';
import { Filters } from './filters.tsx';

interface ListProps<T> extends Omit<ListTableProps<T>, 'empty'> {
  title: string;
  /** Says what the list contains. */
  note?: ReactNode;
  actions?: ReactNode;
  filters?: ReactNode;
  /** Comes between the filters and the table: a plot of the items. */
  plot?: ReactNode;
  /** The words in place of an empty list. */
  empty: { readonly title: string; readonly text?: ReactNode } | null;
  /** Comes after the list: its dialogs. */
  children?: ReactNode;
}

/** A page that is a list: its filters, its table with further rows on request, and words for an empty or failed list. */
export function ListPage<T>({
  title,
  note,
  actions,
  call,
  tabs,
  children,
  ...list
}: ListProps<T> & { call: ApiCall; tabs?: ReactNode }) {
  return (
    <Page title={title} note={note} actions={actions} call={call}>
      {tabs}
      <List {...list} />
      {children}
    </Page>
  );
}

/** A part of a page that is a list. */
export function ListSection<T>({ title, note, actions, children, ...list }: ListProps<T>) {
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
export function List<T>({
  filters,
  plot,
  empty,
  ...table
}: Omit<ListProps<T>, 'title' | 'note' | 'actions' | 'children'>) {
  return (
    <>
      {filters !== undefined && <Filters>{filters}</Filters>}
      {plot}
      <ListTable {...table} empty={empty === null ? null : <Empty {...empty} />} />
    </>
  );
}
