import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { Client } from 'pg';
import { PLANNER } from './database';
import './index';
import { declaredStatements } from './sql/statement';
import { callersOf } from './testing/callers';
import { isOwners, PLANNER_OPTIONS, ROLE_OPTION, scansFor } from './testing/plans';
import { readable } from './testing/readable-sql';
import { openWorld, type World } from './testing/world';

const FILE = resolve(__dirname, '../statements.sql');

type Places = Map<string, { file: string; line: number }>;

jest.mock('./sql/statement', () => {
  const actual: typeof import('./sql/statement.js') = jest.requireActual('./sql/statement');
  const places: Places = new Map();
  const noting: typeof actual.statement = (name, source) => {
    const frames = (new Error().stack ?? '').split('\n').map((frame) => /\((.*\.ts):(\d+):\d+\)$/.exec(frame));
    const own = frames.filter((frame) => frame?.[1]?.includes('/persistence/src/') && !frame[1].endsWith('-spec.ts'));
    const first = own[0];
    const outermost = own.filter((frame) => frame?.[1] === first?.[1]).at(-1);
    if (outermost?.[1] !== undefined) places.set(name, { file: outermost[1], line: Number(outermost[2]) });
    return actual.statement(name, source);
  };
  return { ...actual, statement: noting, places };
});

/** The place where each statement is declared: a line of the module's own code. */
const { places } = jest.requireMock<{ places: Places }>('./sql/statement');

let world: World;

beforeAll(async () => {
  world = await openWorld();
});

afterAll(() => world.close());

const HEAD = `-- Every statement, as PostgreSQL gets it: from the code, by \`npm run generate -- sql\`. What its lines mean is in docs/sql.md.
--
-- In psql, \\i libs/persistence/statements.sql prepares all of them on a connection like those of the applications:
-- EXPLAIN (ANALYZE, BUFFERS) EXECUTE tenant_find('acme', 'alice');

SET ROLE iss_app;
${PLANNER.map((setting) => `SET ${setting.replace('=', ' = ')};`).join('\n')}
`;

/** Returns PostgreSQL's name for the type of each parameter. */
async function typesOf(client: Client, name: string, text: string): Promise<string[]> {
  await client.query(`PREPARE ${name} AS ${text}`);
  const { rows } = await client.query<{ types: string[] }>(
    'SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = $1',
    [name],
  );
  await client.query(`DEALLOCATE ${name}`);
  return rows[0]?.types ?? [];
}

async function described(application: Client, owner: Client): Promise<string> {
  const parts: string[] = [];
  for (const [name, { text, parameters }] of [...declaredStatements()].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const types = await typesOf(application, name, text);
    const taken = parameters.map(({ name: parameter, member }, index) => {
      const path = member === null ? parameter : `${parameter}.${member}`;
      return `$${index + 1} ${path} ${types[index] ?? ''}`;
    });
    const scans = await scansFor(isOwners(name) ? owner : application, text);
    const indexes = [...new Set(scans.map((scan) => scan['Index Name'] ?? ''))].sort();
    const { file = '', line = 0 } = places.get(name) ?? {};
    parts.push(
      [
        `-- ${name}`,
        `--   asked by ${callersOf(file, line).join(', ')} (${relative(__dirname, file)})`,
        ...taken.map((parameter) => `--   ${parameter}`),
        `--   enters ${indexes.join(', ') || 'no index'}`,
        `PREPARE ${name}${types.length === 0 ? '' : ` (${types.join(', ')})`} AS`,
        `${readable(text)};`,
        '',
      ].join('\n'),
    );
  }
  return [HEAD, ...parts].join('\n');
}

it('the committed statements.sql matches the code (npm run generate -- sql writes it)', async () => {
  const application = new Client({ connectionString: world.url, options: `${ROLE_OPTION} ${PLANNER_OPTIONS}` });
  const owner = new Client({ connectionString: world.url, options: PLANNER_OPTIONS });
  await Promise.all([application.connect(), owner.connect()]);
  try {
    const text = await described(application, owner);
    if (process.env['UPDATE_STATEMENTS'] === 'true') writeFileSync(FILE, text);
    expect(existsSync(FILE) ? readFileSync(FILE, 'utf8') : '').toBe(text);
  } finally {
    await Promise.all([application.end(), owner.end()]);
  }
});

it('finds the callers of each statement', () => {
  const unasked = [...declaredStatements().keys()].filter((name) => {
    const { file, line } = places.get(name) ?? {};
    return file === undefined || line === undefined || callersOf(file, line).length === 0;
  });
  expect(unasked).toEqual([]);
});

it('can be run in psql: every statement is prepared, and has the plan of the applications', async () => {
  const client = new Client({ connectionString: world.url });
  await client.connect();
  try {
    await client.query(readFileSync(FILE, 'utf8'));
    const { rows } = await client.query<{ name: string }>('SELECT name FROM pg_prepared_statements');
    expect(rows.map(({ name }) => name).sort()).toEqual([...declaredStatements().keys()].sort());
    const { rows: plan } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, BUFFERS) EXECUTE tenant_find('acme', 'alice')`,
    );
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('memberships_pkey');
  } finally {
    await client.end();
  }
});
