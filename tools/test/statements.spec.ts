import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';

/** The files that ask PostgreSQL anything. Those of migrations and of the command are run by an operator, as the owner of the tables. */
const ASKING = [
  'libs/persistence/src/sql/ask.ts', // declared statements
  'libs/persistence/src/sql/sql.ts', // what begins and ends a transaction
  'libs/persistence/src/database.ts', // what a connection must be before it is used
  'libs/persistence/src/migrate.ts',
  'libs/persistence/src/search-backfill.ts', // a step of migrate.ts
  'libs/persistence/src/servers.ts', // which of several servers takes writes
  'libs/persistence/src/replica.ts', // whether a replica is one, and how far it is
  'libs/persistence/src/sessions.ts', // whether a pooler leaves connections their sessions
  'libs/queue/src/migrate-queue.ts',
  'apps/cli/src/audit/database.ts', // the auditor's own, which share nothing with the writer's
];

/** On the right of a method's name: a call, with its types or without. */
const QUERY = /\.query\s*[(<]/;

const sources = globSync('{apps,libs}/*/src/**/*.ts', { cwd: repositoryRoot })
  .filter((file) => !/spec\.ts$|\/testing\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(repositoryRoot, file), 'utf8') }));

// Together with the rules about pg and TypeORM (dependency-cruiser.cjs): plans.int-spec.ts sees every statement there is.
it('the apps send declared statements and nothing else', () => {
  const asking = sources.filter(({ text }) => QUERY.test(text)).map(({ file }) => file);
  expect(asking.sort()).toEqual(ASKING.toSorted());
});

it('statements go through one function, transactions by their three words', () => {
  const asking = sources.filter(({ file }) => ASKING.slice(0, 2).includes(file));
  const text = asking.map((source) => source.text).join('\n');
  const asked = [...text.matchAll(/\.query\s*(?:<[^>]*>)?\(([^)]*)\)/g)].map(([, argument]) => argument);
  expect(asked.sort()).toEqual(["'BEGIN'", "'COMMIT'", "'ROLLBACK'", 'config']);
});
