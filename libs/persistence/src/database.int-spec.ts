import { DomainError } from '@iss/domain';
import { Client } from 'pg';
import { migrate, openDatabase } from './database';
import { type NoParameters, statement } from './sql/statement';
import { openWorld, type World } from './testing/world';

const WHO = statement<NoParameters, { who: string }>(
  'who',
  'SELECT current_user AS who FROM tenants RIGHT JOIN (SELECT 1) one ON true',
);

let world: World;

beforeAll(async () => {
  world = await openWorld();
});

afterAll(() => world.close());

it('acts as the application role, whatever login it has', async () => {
  await expect(world.database.sql.run(WHO, {})).resolves.toEqual([{ who: 'iss_app' }]);
});

it('is up to date once migrated, and migrating again changes nothing', async () => {
  await expect(world.database.missingMigrations()).resolves.toEqual([]);
  await expect(migrate(world.url)).resolves.toEqual([]);
});

it('gets its privileges back from a migration, as after a restore without them', async () => {
  const owner = new Client({ connectionString: world.url });
  await owner.connect();
  await owner.query('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM iss_app');
  await owner.end();
  await expect(world.database.sql.run(WHO, {})).rejects.toThrow(/permission denied/);
  await migrate(world.url);
  await expect(world.database.sql.run(WHO, {})).resolves.toHaveLength(1);
});

it('says in the domain’s words that the database cannot be reached', async () => {
  const settings = { url: 'postgres://nobody@127.0.0.1:1/none', poolSize: 1, applicationName: 'test' };
  await expect(openDatabase(settings)).rejects.toThrow(DomainError);
  await expect(migrate(settings.url)).rejects.toMatchObject({ code: 'unavailable' });
});
