import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';

/** The files that query PostgreSQL. An operator runs the migrations and the command, as the owner of the tables. */
const ASKING = [
  'libs/persistence/src/sql/ask.ts', // declared statements
  'libs/persistence/src/sql/sql.ts', // begins and ends transactions
  'libs/persistence/src/database.ts', // checks the roles and settings of connections
  'libs/persistence/src/migrate.ts',
  'libs/persistence/src/search-backfill.ts', // a step of migrate.ts
  'libs/persistence/src/servers.ts', // finds the server that accepts writes
  'libs/persistence/src/replica.ts', // checks a replica and its lag
  'libs/persistence/src/sessions.ts', // checks that a pooler does not share sessions
  'libs/queue/src/migrate-queue.ts',
  'apps/cli/src/audit/database.ts', // statements of the auditor, which shares none with the writers
];

/** A call of a method `query`, with or without type arguments. */
const QUERY = /\.query\s*[(<]/;

const sources = globSync('{apps,libs}/*/src/**/*.ts', { cwd: repositoryRoot })
  .filter((file) => !/spec\.ts$|\/testing\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(repositoryRoot, file), 'utf8') }));

// With the rules about pg and TypeORM in dependency-cruiser.cjs, this ensures that plans.int-spec.ts sees every statement.
it('only the listed files query PostgreSQL', () => {
  const asking = sources.filter(({ text }) => QUERY.test(text)).map(({ file }) => file);
  expect(asking.sort()).toEqual(ASKING.toSorted());
});

it('statements are sent by one call, besides BEGIN, COMMIT and ROLLBACK', () => {
  const asking = sources.filter(({ file }) => ASKING.slice(0, 2).includes(file));
  const text = asking.map((source) => source.text).join('\n');
  const asked = [...text.matchAll(/\.query\s*(?:<[^>]*>)?\(([^)]*)\)/g)].map(([, argument]) => argument);
  expect(asked.sort()).toEqual(["'BEGIN'", "'COMMIT'", "'ROLLBACK'", 'config']);
});
