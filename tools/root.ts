import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the repository, searched upwards from the working folder, since in Jest these files run as CommonJS. */
export const repositoryRoot = findRoot(process.cwd());

function findRoot(folder: string): string {
  const manifest = join(folder, 'package.json');
  if (existsSync(manifest) && readFileSync(manifest, 'utf8').includes('"name": "identity-state-service"'))
    return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('Run this inside the repository of the Identity State Service.');
  return findRoot(parent);
}
