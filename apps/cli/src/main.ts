import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import type { CommandContext } from './command';
import { isOutputColoured, readSettings, readStarted, readVariables } from './env';
import { systemCode } from './files';
import { runCommand } from './run';
import { requireWebAddress } from './identity/web-address';
import { visibleLines } from './visible';

// Warnings of Node are for developers: that Web Crypto may change ML-DSA, for example.
process.removeAllListeners('warning');

const ending = new AbortController();

// The reader of a pipe may stop early, as in `iss log acme-corp | head`. Commands that run forever then end. Other commands
// continue silently, because their exit code still matters.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (systemCode(error) === 'EPIPE') return ending.abort();
    if (stream === process.stdout)
      process.stderr.write(`Standard output cannot be written: ${visibleLines(error.message, false)}.\n`);
    process.exit(process.exitCode || 1);
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
  confirm,
  browse,
  /** Installs signal handlers on first use, so that only commands that read it survive a signal. */
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
    process.stderr.write(`${visibleLines(inspect(error), false)}\n`);
    process.exitCode = 1;
  },
);

async function confirm(question: string): Promise<boolean | null> {
  if (process.stdin.isTTY !== true) return null;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

/** Opens an address without a shell, because the issuer chooses it. @throws Failure for an unsafe address */
async function browse(address: string): Promise<boolean> {
  const [command, args] = openerOf(
    process.platform,
    requireWebAddress('The address of the sign-in page', address).href,
  );
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
