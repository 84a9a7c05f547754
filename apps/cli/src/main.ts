import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { CommandContext } from './command';
import { isOutputColoured, readSettings, readStarted, readVariables } from './env';
import { systemCode } from './files';
import { runCommand } from './run';

const ending = new AbortController();

// Whoever reads the result may have seen enough: `iss log acme-corp | head`.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (systemCode(error) !== 'EPIPE') throw error;
    process.exit(0);
  });
}

const context: CommandContext = {
  env: async () => (await import('@iss/platform')).operatorEnv(),
  variables: readVariables(),
  started: readStarted(),
  settings: readSettings(),
  screen: { isColoured: isOutputColoured(), isLive: process.stderr.isTTY === true },
  print: (line) => process.stdout.write(`${line}\n`),
  complain: (line) => process.stderr.write(`${line}\n`),
  input: () => text(process.stdin),
  browse,
  /** Whoever asks for it ends by itself; any other command is ended as every process is. */
  get signal() {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ending.abort());
    return ending.signal;
  },
};

runCommand(process.argv.slice(2), context).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);

/** Never through a shell: the address is the issuer's. */
async function browse(url: string): Promise<boolean> {
  const [command, args] = openerOf(process.platform, url);
  const child = spawn(command, args, { detached: true, stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

function openerOf(platform: NodeJS.Platform, url: string): [string, string[]] {
  if (platform === 'darwin') return ['open', [url]];
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}
