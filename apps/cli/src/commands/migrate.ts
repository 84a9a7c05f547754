import { applyMigrations } from '../apply-migrations';
import type { Command } from '../command';

/** Before a new version starts: brings the database up to date. Again and again without harm. */
export const migrate: Command = {
  options: {},
  async run(_options, { env, print, complain }) {
    const { databaseUrl, queueUrl } = await env();
    const applied = await applyMigrations(databaseUrl, queueUrl, complain);
    for (const name of applied) print(`applied ${name}`);
    print(applied.length === 0 ? 'The database is up to date.' : `${applied.length} applied.`);
  },
};
