import { applyMigrations } from '../../apply-migrations';
import { defineCommand } from '../../define';

export const migrate = defineCommand({
  about: 'Run it as the owner of the tables. It changes nothing if the database is up to date.',
  async run(_values, { env, print, complain }) {
    const { databaseUrl, queueUrl } = await env();
    const applied = await applyMigrations(databaseUrl, queueUrl, complain);
    for (const name of applied) print(`applied ${name}`);
    print(applied.length === 0 ? 'The database is up to date.' : `Migrations applied: ${applied.length}.`);
  },
});
