import { loadEnvironment } from '../environment.ts';
import { reportError, UserError } from '../processes.ts';
import { applyMigrations } from './apply-migrations.ts';

/** `npm run db:migrate`: migrates the database before a new version starts; in an image the command is `migrate`. */
try {
  await loadEnvironment();
  const databaseUrl = process.env['DATABASE_URL'];
  if (!databaseUrl)
    throw new UserError(
      'DATABASE_URL is missing: set it to the database to migrate, with the login that owns its tables.',
    );
  const applied = await applyMigrations(databaseUrl, process.env['QUEUE_URL'], console.error);
  for (const name of applied) console.log(`applied ${name}`);
  console.log(applied.length === 0 ? 'The database is up to date.' : `Migrations applied: ${applied.length}.`);
} catch (error) {
  process.exitCode = reportError(error);
}
