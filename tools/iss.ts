import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from './build.ts';
import { loadDotEnv, readRun } from './dev/data-folder.ts';
import { reportError } from './processes.ts';
import { repositoryRoot } from './root.ts';

/** `npx iss …` in a clone: what the image has built already. Beside `npm start` it is about that one's database. */
try {
  loadDotEnv();
  await ensureBuilt();
  process.env['DATABASE_URL'] ||= readRun()?.status?.database_url ?? '';
  await import(pathToFileURL(join(repositoryRoot, 'apps/cli/dist/main.js')).href);
} catch (error) {
  process.exitCode = reportError(error);
}
