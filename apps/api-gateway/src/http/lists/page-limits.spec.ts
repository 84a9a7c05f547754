import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '@iss/platform';
import { LIST_LIMITS, pageBounds, SPECIFIED_LISTS } from '@iss/contract';
import { repositoryRoot } from '../../../../../tools/root';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

interface Operation {
  operationId?: string;
  parameters?: { name: string; schema: { default?: number; maximum?: number } }[];
}
const { paths }: { paths: Record<string, Record<string, Operation>> } = JSON.parse(read('openapi.json'));
const limited = Object.values(paths)
  .flatMap((path) => Object.values(path))
  .flatMap(({ operationId = '', parameters = [] }) =>
    parameters.filter(({ name }) => name === 'limit').map(({ schema }) => ({ operationId, schema })),
  );
const specified = Object.values(SPECIFIED_LISTS);

it.each(limited)('the document says the page limits of $operationId', ({ operationId, schema }) => {
  const list = specified.find(({ operations }) => operations.some((operation) => operation === operationId));
  const bounds = pageBounds(list ?? LIST_LIMITS, DEFAULT_LIMITS);
  expect(schema).toMatchObject({ default: bounds.default, maximum: bounds.max });
});

it('docs/limits.md has the page limits of every list', () => {
  const [, table = ''] = read('docs/limits.md').split(/\| List +\| Default/);
  const rows = table.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  const said = cells.map(([, lists, standard, most = '', source]) => [
    lists,
    standard,
    /^[0-9,]+/.exec(most)?.[0],
    source,
  ]);
  const shown = (limits: Parameters<typeof pageBounds>[0]): string[] => {
    const { default: standard, max } = pageBounds(limits, DEFAULT_LIMITS);
    return [standard.toLocaleString('en'), max.toLocaleString('en')];
  };
  expect(said).toEqual([
    ['every other list', ...shown(LIST_LIMITS), ''],
    ...specified.map((list) => [
      list.operations.map((operation) => `\`${operation}\``).join(', '),
      ...shown(list),
      list.source,
    ]),
  ]);
});
