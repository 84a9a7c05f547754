import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

/** The members of a published package.json that say where the source is. */
export interface Addresses {
  repository: { type: 'git'; url: string };
  homepage: string;
}

/**
 * Returns the addresses from `--repository` and `--homepage`. The repository defaults to the remote `origin`, and the homepage to
 * the repository's page.
 *
 * @throws UserError without an HTTPS address, because a package must not name a repository that nobody can open
 */
export function parseAddresses(args: readonly string[], origin: string | null = originRemote()): Addresses {
  const { values } = parseArgs({
    args: [...args],
    options: { repository: { type: 'string' }, homepage: { type: 'string' } },
  });
  const page = requireAddress('--repository', values.repository ?? origin ?? '').replace(/\/$|\.git$/, '');
  const homepage = values.homepage === undefined ? page : requireAddress('--homepage', values.homepage);
  return { repository: { type: 'git', url: `git+${page}.git` }, homepage };
}

function requireAddress(option: string, text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return text;
  throw new UserError(
    `The package needs the address of its source: send ${option} https://…, without a user or password` +
      `${option === '--repository' ? ', or set the remote origin to one' : ''}.`,
  );
}

function originRemote(): string | null {
  const { status, stdout } = spawnSync('git', ['remote', 'get-url', 'origin'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : null;
}
