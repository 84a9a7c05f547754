import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reportError, UserError } from '../processes.ts';
import { parseAddresses } from '../release/addresses.ts';
import { repositoryRoot } from '../root.ts';
import { makePackage } from './package.ts';

/** `npm run tool -- cli/pack --repository URL`: `@identity-state/cli` as a file that npm installs, in `dist/`. */
try {
  const addresses = parseAddresses(process.argv.slice(2));
  const dist = join(repositoryRoot, 'dist');
  mkdirSync(dist, { recursive: true });
  await makePackage(join(dist, 'cli'), addresses);
  const { status } = spawnSync('npm', ['pack', './cli'], { cwd: dist, stdio: 'inherit' });
  if (status !== 0) throw new UserError('npm could not pack iss: see above.');
} catch (error) {
  process.exitCode = reportError(error);
}
