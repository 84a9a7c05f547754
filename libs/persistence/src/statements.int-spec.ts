import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { PLANNER } from './database';
import './index';
import { declaredStatements } from './sql/statement';
import { productStatements } from './testing/plans';
import { openWorld, type World } from './testing/world';

/** Outside of the repository. `npm run generate -- sql` writes it. */
const FILE = resolve(__dirname, '../../../.data/statements.sql');

let world: World;

beforeAll(async () => {
  world = await openWorld();
});

afterAll(() => world.close());

const textOfFiles = globSync('**/*.sql', { cwd: __dirname }).map((file) => readFileSync(join(__dirname, file), 'utf8'));
const namesOf = (kind: 'statement' | 'fragment'): string[] =>
  textOfFiles.flatMap((text) =>
    [...text.matchAll(new RegExp(`^-- ${kind}: (\\w+)`, 'gm'))].map(([, name = '']) => name),
  );

it('the stores declare every statement of the files', () => {
  expect(namesOf('statement').filter((name) => !declaredStatements().has(name))).toEqual([]);
  expect(namesOf('statement').length).toBeGreaterThan(150);
});

it('the statements use every fragment', () => {
  const code = globSync('**/*.ts', { cwd: __dirname }).map((file) => readFileSync(join(__dirname, file), 'utf8'));
  const used = new Set(
    [...textOfFiles, ...code].flatMap((text) => text.match(/(?<=@)\w+|(?<=fragmentText\(')\w+/g) ?? []),
  );
  expect(namesOf('fragment').filter((name) => !used.has(name))).toEqual([]);
});

it('psql prepares all statements with the plans of the applications (npm run generate -- sql writes them)', async () => {
  const settings = ['SET ROLE iss_app;', ...PLANNER.map((setting) => `SET ${setting.replace('=', ' = ')};`)];
  const statements = productStatements().sort();
  const prepared = statements.map(([name, text]) => `PREPARE ${name} AS\n${text};\n`);
  const script = [...settings, ...prepared].join('\n');
  if (process.env['UPDATE_STATEMENTS'] === 'true') {
    mkdirSync(resolve(FILE, '..'), { recursive: true });
    writeFileSync(FILE, script);
  }
  const client = new Client({ connectionString: world.url });
  await client.connect();
  try {
    await client.query(script);
    const { rows } = await client.query<{ name: string }>('SELECT name FROM pg_prepared_statements');
    expect(rows.map(({ name }) => name).sort()).toEqual(statements.map(([name]) => name));
    const { rows: plan } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, BUFFERS) EXECUTE tenant_find('acme', 'alice')`,
    );
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('memberships_pkey');
  } finally {
    await client.end();
  }
});
