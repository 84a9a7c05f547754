import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readRun } from './dev/data-folder.ts';
import { loadEnvironment } from './environment.ts';
import { reportError } from './processes.ts';
import { repositoryRoot } from './root.ts';

/** `npx iss …` in a clone: builds `iss` first. Uses the database of a running `npm start`. */
try {
  await loadEnvironment();
  const started = readRun()?.status;
  if (started !== undefined && !process.env['DATABASE_URL']) {
    process.env['ISS_STARTED_QUEUE_URL'] = started.queue_url;
    process.env['ISS_STARTED_ISSUER'] = started.issuer;
  }
  process.env['DATABASE_URL'] ||= started?.database_url ?? '';
  process.env['ISS_BASE_URL'] ||= started?.base_url ?? '';
  await import(pathToFileURL(join(repositoryRoot, 'apps/cli/dist/main.js')).href);
} catch (error) {
  process.exitCode = reportError(error);
}
