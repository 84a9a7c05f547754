import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from '../build.ts';
import { reportError, UserError } from '../processes.ts';
import { parseAddresses } from '../release/addresses.ts';
import { repositoryRoot } from '../root.ts';
import { makePackage } from './package.ts';

/** `npm run tool -- client/pack --repository URL`: `@identity-state/client` as a file that npm installs, in `dist/`. */
try {
  const addresses = parseAddresses(process.argv.slice(2));
  await ensureBuilt();
  const dist = join(repositoryRoot, 'dist');
  mkdirSync(dist, { recursive: true });
  await makePackage(join(dist, 'client'), addresses);
  const { status } = spawnSync('npm', ['pack', './client'], { cwd: dist, stdio: 'inherit' });
  if (status !== 0) throw new UserError('npm could not pack the client: see above.');
} catch (error) {
  process.exitCode = reportError(error);
}
