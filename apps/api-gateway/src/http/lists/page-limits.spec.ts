import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '@iss/platform';
import { LIST_LIMITS, OPERATIONS, pageBounds, type PageLimits, SPECIFIED_LISTS } from '@iss/contract';
import { repositoryRoot } from '../../../../../tools/root';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

const lists = Object.values(OPERATIONS).flatMap(({ id, method, path, page }) =>
  page === undefined ? [] : [{ id, method, path, page }],
);
const { paths }: { paths: Record<string, Record<string, { parameters?: { name: string; schema: unknown }[] }>> } =
  JSON.parse(read('openapi.json'));

it.each(lists)('openapi.json has the page limits of $id', ({ method, path, page }) => {
  const { default: standard, max } = pageBounds(page, DEFAULT_LIMITS);
  const limit = paths[path]?.[method]?.parameters?.find(({ name }) => name === 'limit');
  expect(limit?.schema).toMatchObject({ default: standard, maximum: max });
});

it('docs/limits.md has the page limits of every list', () => {
  const [, table = ''] = read('docs/limits.md').split(/\| List +\| Default/);
  const rows = table.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  const said = cells.map(([, lists, standard, most = '']) => [lists, standard, /^[0-9,]+/.exec(most)?.[0]]);
  const shown = (limits: PageLimits): string[] => {
    const { default: standard, max } = pageBounds(limits, DEFAULT_LIMITS);
    return [standard.toLocaleString('en'), max.toLocaleString('en')];
  };
  expect(said).toEqual([
    ['every other list', ...shown(LIST_LIMITS)],
    ...Object.values(SPECIFIED_LISTS).map((list) => [
      lists.flatMap(({ id, page }) => (page === list ? [`\`${id}\``] : [])).join(', '),
      ...shown(list),
    ]),
  ]);
});
