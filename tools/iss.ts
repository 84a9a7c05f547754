import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readRun } from './dev/data-folder.ts';
import { loadEnvironment } from './environment.ts';
import { reportError } from './processes.ts';
import { repositoryRoot } from './root.ts';

/** `npx iss …` in a clone: what the image has built already. Beside `npm start` it is about that one's database. */
try {
  await loadEnvironment();
  process.env['DATABASE_URL'] ||= readRun()?.status?.database_url ?? '';
  process.env['ISS_BASE_URL'] ||= readRun()?.status?.base_url ?? '';
  await import(pathToFileURL(join(repositoryRoot, 'apps/cli/dist/main.js')).href);
} catch (error) {
  process.exitCode = reportError(error);
}
