import { spawnSync } from 'node:child_process';
import { reportError, UserError } from './processes.ts';
import { repositoryRoot } from './root.ts';

const run = (...words: string[]): string[] => ['node', 'tools/run.mjs', ...words];

/** The commands that write each generated file. Some are suites, which compare the file, or write it if a variable is set. */
const GENERATORS: Readonly<Record<string, { commands: readonly (readonly string[])[]; env?: Record<string, string> }>> =
  {
    sql: {
      commands: [run('test', 'libs/persistence/src/statements', 'apps/cli/test/guards')],
      env: { UPDATE_STATEMENTS: 'true' },
    },
    openapi: {
      commands: [
        run('test', 'apps/api-gateway/test/openapi', 'apps/api-gateway/test/authorization'),
        run('client/types'),
      ],
      env: { UPDATE_OPENAPI: 'true' },
    },
    manifests: { commands: [run('deploy/manifests')] },
    cli: { commands: [run('test', 'apps/cli/test/commands')], env: { UPDATE_CLI_PAGE: 'true' } },
    recording: { commands: [run('test', 'apps/cli/test/commands')], env: { UPDATE_RECORDING: 'true' } },
    pictures: { commands: [run('test', 'apps/console/test/views.browser-spec')], env: { UPDATE_SCREENSHOTS: 'true' } },
    vectors: { commands: [run('test', 'libs/map/src/vectors')], env: { UPDATE_VECTORS: 'true' } },
    client: { commands: [run('client/types'), ['typedoc', '--options', 'libs/client/typedoc.json']] },
  };

/** `npm run generate -- NAME`: writes a generated file from its source. */
const [name = '', ...words] = process.argv.slice(2);
try {
  const generator = Object.hasOwn(GENERATORS, name) ? GENERATORS[name] : undefined;
  if (generator === undefined) throw new UserError(`Name what to generate: ${Object.keys(GENERATORS).join(', ')}.`);
  for (const [command = '', ...args] of generator.commands) {
    const { status } = spawnSync(command, [...args, ...words], {
      cwd: repositoryRoot,
      stdio: 'inherit',
      env: { ...process.env, ...generator.env },
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new UserError(`${command} ${args.join(' ')} failed.`);
  }
} catch (error) {
  process.exitCode = reportError(error);
}
