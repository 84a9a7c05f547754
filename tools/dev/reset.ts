import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clusterFolder } from '../postgres.ts';
import { reportError, UserError } from '../processes.ts';
import { dataFolderPath, loadDotEnv, readRun } from './data-folder.ts';
import { LOG_FILES } from './transparency-log.ts';

/** `npm run reset`: deletes all local data. Deletes only files in DATA_DIR that the tools created. */
try {
  loadDotEnv();
  const folder = dataFolderPath();
  const run = readRun();
  if (run !== undefined) throw new UserError(`The service is running (process ${run.pid}): stop it first.`);
  const names = ['postgres', 'logs', 'run.json', 'secrets.json', 'inbox-secrets.json', ...LOG_FILES];
  const ours = names.map((name) => join(folder, name));
  for (const path of [clusterFolder(folder), ...ours]) rmSync(path, { recursive: true, force: true });
  if (isEmpty(folder)) rmdirSync(folder);
  console.log(`Emptied ${folder}`);
} catch (error) {
  process.exitCode = reportError(error);
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}
