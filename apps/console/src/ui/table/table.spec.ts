/** @jest-environment ./src/testing/environment.cjs */
import '../../testing/dom.ts';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { createElement, type ReactElement, useState } from 'react';
import { downloads } from '../../testing/dom.ts';
import { csvOf } from './sortable.tsx';
import { type Column, ListTable, Table } from './table.tsx';
import { distanceText, Time } from '../time.tsx';
import { VirtualTable } from './virtual-table.tsx';

interface Item {
  readonly name: string;
  readonly count: number | null;
  readonly at: string | null;
}

const COLUMNS: readonly Column<Item>[] = [
  { title: 'Name', isHeader: true, value: ({ name }) => name },
  { title: 'Count', value: ({ count }) => count },
  { title: 'When', at: ({ at }) => at },
  { title: 'Actions', cell: () => 'none' },
];
const keyOf = ({ name }: Item): string => name;
const item = (name: string, count: number | null = null, at: string | null = null): Item => ({ name, count, at });
const many = (count: number): Item[] => Array.from({ length: count }, (_, index) => item(`n${index + 1}`));
const names = (): (string | null)[] => screen.queryAllByRole('rowheader').map((cell) => cell.textContent);
const press = (name: string): boolean => fireEvent.click(screen.getByRole('button', { name }));
const lastFile = async (): Promise<string | undefined> => downloads.at(-1)?.blob.text();

afterEach(() => {
  cleanup();
  downloads.length = 0;
});

describe('a table', () => {
  const table = (items: readonly Item[]): ReactElement =>
    createElement(Table<Item>, { caption: 'Things', columns: COLUMNS, items, keyOf });

  it('sorts by a column in both directions, with missing values last', () => {
    render(table([item('n10', 2), item('n9', null), item('n1', 11)]));
    press('Count');
    expect(names()).toEqual(['n10', 'n1', 'n9']);
    expect(screen.getByRole('columnheader', { name: 'Count' }).getAttribute('aria-sort')).toBe('ascending');
    press('Count');
    expect(names()).toEqual(['n1', 'n10', 'n9']);
    press('Count');
    expect(names()).toEqual(['n10', 'n9', 'n1']);
    press('Name');
    expect(names()).toEqual(['n1', 'n9', 'n10']);
    expect(screen.queryByRole('button', { name: 'Actions' })).toBeNull();
  });

  it('shows the number of rows, and exports them in their order as CSV and JSON', async () => {
    const items = [item('b, c', 2, '2026-01-02T00:00:00.000Z'), item('a', 1)];
    render(table(items));
    expect(document.body.textContent).toContain('2 rows');
    press('Name');
    press('CSV: Things');
    await waitFor(() => expect(downloads.map(({ name }) => name)).toEqual(['things.csv']));
    expect(await lastFile()).toBe('Name,Count,When\r\na,1,\r\n"b, c",2,2026-01-02T00:00:00.000Z\r\n');
    press('JSON: Things');
    await waitFor(() => expect(downloads).toHaveLength(2));
    expect(JSON.parse((await lastFile()) ?? '')).toEqual(items.toReversed());
  });

  it('shows bidirectional control characters as escapes, and exports them unchanged', async () => {
    render(table([item('acme \u202egnitluca\u2069')]));
    expect(names()).toEqual(['acme \\u202egnitluca\\u2069']);
    press('CSV: Things');
    await waitFor(() => expect(downloads).toHaveLength(1));
    expect(await lastFile()).toContain('acme \u202egnitluca\u2069');
  });

  it('shows 50 rows and more on request, and prints all of them', () => {
    render(table(many(120)));
    expect(names()).toHaveLength(50);
    press('Show more');
    expect(names()).toHaveLength(100);
    fireEvent(window, new Event('beforeprint'));
    expect(names()).toHaveLength(120);
    fireEvent(window, new Event('afterprint'));
    expect(names()).toHaveLength(100);
  });

  it('with a paged list reads it to the end before an export', async () => {
    function List(): ReactElement {
      const [pages, setPages] = useState(1);
      const list = {
        items: many(pages * 40).toReversed(),
        hasNextPage: pages < 3,
        isPending: false,
        isFetching: false,
        isFetchingNextPage: false,
        error: null,
        fetchNextPage: () => setPages(pages + 1),
        refetch: () => undefined,
      };
      return createElement(ListTable<Item>, { caption: 'Things', columns: COLUMNS, keyOf, list, empty: null });
    }
    render(createElement(List));
    expect(document.body.textContent).toContain('40 rows so far');
    press('CSV: Things');
    await waitFor(() => expect(downloads).toHaveLength(1));
    expect((await lastFile())?.trim().split('\r\n')).toHaveLength(121);
    expect(document.body.textContent).toContain('120 rows');
  });

  it('with many rows prints all of them', () => {
    const columns = COLUMNS.map((column) => ({ ...column, width: '1fr' }));
    render(createElement(VirtualTable<Item>, { caption: 'Things', columns, items: many(1_000), keyOf, rowHeight: 40 }));
    expect(names().length).toBeLessThan(500);
    fireEvent(window, new Event('beforeprint'));
    expect(names()).toHaveLength(1_000);
    fireEvent(window, new Event('afterprint'));
    expect(names().length).toBeLessThan(500);
  });
});

it.each([
  ['=1+1', "'=1+1"],
  ['@a', "'@a"],
  ['-2', "'-2"],
  ['say "a"', '"say ""a"""'],
  ['two\nlines', '"two\nlines"'],
])('csvOf writes %j as %j, which no spreadsheet treats as a formula', (name, expected) => {
  expect(csvOf([{ title: 'Name', value: (one: { name: string }) => one.name }], [{ name }])).toBe(
    `Name\r\n${expected}\r\n`,
  );
});

it.each([
  [-30_000, 'this minute'],
  [-3_600_000, '1 hour ago'],
  [90_000, 'in 1 minute'],
  [-26 * 3_600_000, 'yesterday'],
  [-46 * 86_400_000, null],
])('distanceText of %d ms from now is %s', (distance, expected) => {
  const now = Date.parse('2026-01-15T12:00:00Z');
  expect(distanceText(now + distance, now)).toBe(expected);
});

it('Time shows UTC and the distance from now', () => {
  const at = new Date(Date.now() - 3 * 3_600_000).toISOString();
  render(createElement(Time, { at }));
  const time = document.querySelector('time');
  expect(time?.dateTime).toBe(at);
  expect(time?.title).toContain('UTC');
  expect(time?.textContent).toContain('3 hours ago');
});
