import { CAPS, DEFAULT_CAPS, operatorEnv, OVERRIDABLE } from '@iss/platform';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../tools/testing/test-database';
import { iss } from './testing/run-iss';

let created: TestDatabase;
let database: Client;

beforeAll(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  database = new Client({ connectionString: created.url });
  await database.connect();
  await database.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme'), ('beta', 'Beta')`);
});

afterAll(async () => {
  await database.end();
  await created.drop();
});

beforeEach(() => database.query('DELETE FROM limit_overrides'));

/** Runs `iss admin limits …`, and returns its output and exit code. */
async function limits(words: string, env: Record<string, string> = {}) {
  return iss(['admin', 'limits', ...words.split(' ')], {
    env: async () => operatorEnv({ DATABASE_URL: created.url, ...env }),
  });
}

const listed = async (words = 'list') => JSON.parse((await limits(`${words} --json`)).printed);

it('iss admin limits sets, changes and unsets limits of tenants and principals', async () => {
  expect(await limits('set --tenant acme --limit members_per_tenant --value 5')).toEqual({
    exitCode: 0,
    printed: 'members_per_tenant of the tenant acme is now 5.',
    complaint: '',
  });
  await limits('set --principal oidc:p#alice --limit requests_per_minute --value 9000 --reason import');
  await limits('set --tenant acme --limit members_per_tenant --value 7');
  expect(await listed()).toMatchObject([
    { scope: 'tenant', id: 'acme', limit: 'members_per_tenant', value: 7, default: 10_000, overridden: true },
    {
      scope: 'principal',
      id: 'oidc:p#alice',
      limit: 'requests_per_minute',
      value: 9000,
      default: 600,
      reason: 'import',
    },
  ]);
  expect((await limits('unset --tenant acme --limit members_per_tenant')).printed).toBe(
    'members_per_tenant of the tenant acme was 7. The default of 10000 applies.',
  );
  expect(await limits('unset --tenant acme --limit members_per_tenant')).toMatchObject({
    exitCode: 0,
    printed: 'members_per_tenant of the tenant acme had no custom value. The default of 10000 applies.',
  });
  expect(await listed()).toHaveLength(1);
});

it('list --tenant and --principal show every limit with its effective value', async () => {
  await limits('set --tenant acme --limit subscriptions_per_tenant --value 0');
  const ofTenant: { limit: string; value: number; overridden: boolean }[] = await listed('list --tenant acme');
  const names = Object.entries(OVERRIDABLE).filter(([, { scope }]) => scope === 'tenant');
  expect(ofTenant.map(({ limit }) => limit)).toEqual(names.map(([name]) => name));
  for (const { limit, value, overridden } of ofTenant) {
    expect([limit, overridden]).toEqual([limit, limit === 'subscriptions_per_tenant']);
    if (!overridden) expect(DEFAULT_CAPS).toMatchObject({ [limit]: value });
  }
  expect(ofTenant).toContainEqual(expect.objectContaining({ limit: 'subscriptions_per_tenant', value: 0 }));
  const ofPrincipal = JSON.parse(
    (await limits('list --principal oidc:p#bob --json', { RATE_LIMIT_PER_MINUTE: '5' })).printed,
  );
  expect(ofPrincipal).toContainEqual(expect.objectContaining({ limit: 'requests_per_minute', value: 5 }));
});

it('list without --json prints a table', async () => {
  expect((await limits('list')).printed).toBe(
    'No custom limit is set. The defaults apply to all tenants and principals.',
  );
  await limits('set --tenant acme --limit members_per_tenant --value 5 --reason pilot');
  const [head, row] = (await limits('list')).printed.split('\n');
  expect(head).toMatch(/^SCOPE {3}ID {4}LIMIT +VALUE {2}DEFAULT {2}SET +REASON$/);
  expect(row).toMatch(/^tenant {2}acme {2}members_per_tenant {2}5 +10000 +20\S+Z {2}pilot$/);
});

it.each([
  [
    'set --limit members_per_tenant --value 1',
    /^No tenant or principal is named\. Add --tenant ID or --principal ID\./,
  ],
  ['set --tenant acme --principal oidc:p#a --limit members_per_tenant --value 1', /^--tenant and --principal exclude/],
  ['set --tenant acme --limit memberships --value 1', /^--limit takes one of tenants_per_principal, members_per/],
  ['set --tenant acme --limit constructor --value 1', /^--limit takes one of/],
  ['set --tenant acme --limit tenants_per_principal --value 1', /^tenants_per_principal is a limit of a principal/],
  ['set --tenant acme --limit members_per_tenant', /^--value takes a whole number/],
  ['set --tenant acme --limit members_per_tenant --value -1', /^--value takes a whole number/],
  ['set --tenant acme --limit members_per_tenant --value 1e3', /^--value takes a whole number/],
  ['set --tenant acme --limit members_per_tenant --value 1000000001', /^--value takes a whole number/],
  ['set --principal alice --limit requests_per_minute --value 1', /^--principal takes a principal_id, such as oidc:/],
  ['list --all', /Unknown option '--all'[^]*Usage: iss admin limits list/],
  ['remove', /^Unknown command admin limits remove\. iss admin limits --help lists every command/],
])('iss admin limits %s exits with 2 and explains how to fix the call', async (words, complaint) => {
  const outcome = await limits(words);
  expect(outcome).toMatchObject({ exitCode: 2, printed: '' });
  expect(outcome.complaint).toMatch(complaint);
  expect((await database.query('SELECT FROM limit_overrides')).rowCount).toBe(0);
});

it.each([
  'list --tenant gone',
  'set --tenant gone --limit members_per_tenant --value 1',
  'unset --tenant gone --limit members_per_tenant',
])('iss admin limits %s exits with 1, because the tenant does not exist', async (words) => {
  expect(await limits(words)).toEqual({
    exitCode: 1,
    printed: '',
    complaint: 'This database has no tenant gone. Check the tenant_id and DATABASE_URL.',
  });
});

it('list explains why a missing or unreachable DATABASE_URL fails', async () => {
  expect(await limits('list', { DATABASE_URL: '' })).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/^DATABASE_URL is not set/),
  });
  const unreachable = await limits('list', { DATABASE_URL: 'postgres://127.0.0.1:1/none' });
  expect(unreachable).toMatchObject({ exitCode: 1 });
  expect(unreachable.complaint).toMatch(/^PostgreSQL at 127\.0\.0\.1:1\/none: nothing listens there/);
});

it('the role of the applications can list limits, but not set or unset them', async () => {
  await database.query(`DROP ROLE IF EXISTS iss_limits_spec`);
  await database.query(`CREATE ROLE iss_limits_spec LOGIN PASSWORD 'x' IN ROLE iss_app`);
  try {
    const url = new URL(created.url);
    [url.username, url.password] = ['iss_limits_spec', 'x'];
    for (const words of [
      'set --tenant acme --limit members_per_tenant --value 1',
      'unset --tenant acme --limit members_per_tenant',
    ]) {
      expect(await limits(words, { DATABASE_URL: url.href })).toEqual({
        exitCode: 1,
        printed: '',
        complaint: 'The login may not do this. Use the one that owns the tables.',
      });
    }
    expect(await limits('list', { DATABASE_URL: url.href })).toMatchObject({ exitCode: 0 });
  } finally {
    await database.query('DROP ROLE iss_limits_spec');
  }
});

it('every cap has the scope tenant or principal', () => {
  for (const { scope } of Object.values(CAPS)) expect(['tenant', 'principal']).toContain(scope);
});
