import { applyMigrations } from '../apply-migrations';
import type { Command } from '../command';

export const migrate: Command = {
  about: 'Run it as the owner of the tables. It changes nothing if the database is up to date.',
  options: {},
  async run(_options, { env, print, complain }) {
    const { databaseUrl, queueUrl } = await env();
    const applied = await applyMigrations(databaseUrl, queueUrl, complain);
    for (const name of applied) print(`applied ${name}`);
    print(applied.length === 0 ? 'The database is up to date.' : `Migrations applied: ${applied.length}.`);
  },
};
