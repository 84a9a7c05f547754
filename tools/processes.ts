import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** A fault that the user can mend: shown as one line, without a stack. */
export class UserError extends Error {}

/** Prints an error as the user should see it and gives the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof UserError) console.error(error.message);
  else console.error(error);
  return 1;
}

/**
 * What Node is given for an app, wherever it is started: half of the young generation that it takes by default, in MiB;
 * and all objects young, since some that are made old would keep whole requests (docs/decisions/0011).
 */
export const APP_FLAGS = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring'];

export interface OwnedProcess {
  readonly pid: number;
  /** Settles when the process has ended, whoever ended it. */
  readonly ended: Promise<string>;
  readonly running: boolean;
  /** Sends the stop signal, then SIGKILL after `deadlineMs`. Safe to call twice. */
  stop(deadlineMs: number): Promise<void>;
}

/**
 * Starts a process in a session of its own, so that Ctrl-C in the terminal reaches only us and we end our processes in
 * order. A small shell ends it when we disappear without having done so (kill -9).
 * `temporaryFolder` is removed by that shell too.
 */
export async function startOwned(
  command: string,
  args: string[],
  options: SpawnOptions & { stopSignal: 'SIGINT' | 'SIGTERM'; temporaryFolder?: string },
): Promise<OwnedProcess> {
  const { stopSignal, temporaryFolder, ...spawnOptions } = options;
  const child = spawn(command, args, { ...spawnOptions, detached: true });
  const { pid } = child;
  const watchdog = pid === undefined ? undefined : startWatchdog(pid, stopSignal, temporaryFolder ?? '');
  let running = true;
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  }).finally(() => {
    running = false;
    watchdog?.kill('SIGKILL');
  });
  if (pid === undefined) throw new Error(`${command} does not start: ${await ended}`);
  return {
    pid,
    ended,
    get running() {
      return running;
    },
    async stop(deadlineMs) {
      if (!running) return;
      child.kill(stopSignal);
      const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Waits for the end of a pipe that only we hold open; Windows has neither the shell nor the signals. */
function startWatchdog(pid: number, signal: string, temporaryFolder: string): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined;
  const script = `
    read _
    kill -s "$2" "$1" 2>/dev/null
    i=0
    while kill -0 "$1" 2>/dev/null && [ $i -lt 150 ]; do sleep 0.1; i=$((i + 1)); done
    kill -s KILL "$1" 2>/dev/null
    if [ -n "$3" ]; then rm -rf "$3"; fi`;
  const args = ['-c', script, 'watchdog', String(pid), signal.replace('SIG', ''), temporaryFolder];
  const watchdog = spawn('/bin/sh', args, { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  watchdog.unref();
  watchdog.stdin.on('error', () => undefined);
  return watchdog;
}

/** Whether the process exists, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The command line of a process: numbers are given out again, so being alive is not enough to be the one we mean. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  }
}

/** Whether a server on this address could listen on the port now. */
export function isPortFree(port: number, host?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Below the ports that Linux, macOS and Windows give to outgoing connections and to servers on port 0, so that no
 * process gets one of these by chance.
 */
const RESERVED_PORTS = { first: 12_000, last: 31_999 };
const MAX_TRIES = 500;
const reservations = new Map<number, Socket>();

/**
 * Reserves a loopback port for as long as this process lives: nobody else who calls this function gets it, and a server
 * that restarts finds it again. A UDP socket with the number of the port is the lock, which the kernel releases when the
 * process ends. Reserves `wanted` if that is possible.
 */
export async function reservePort(wanted?: number): Promise<number> {
  const { first, last } = RESERVED_PORTS;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = tries === 0 && wanted !== undefined ? wanted : randomInt(first, last + 1);
    const isOurs = reservations.has(port) ? port === wanted : await lockPort(port);
    // Some systems let a port be shared between one address and all addresses.
    if (isOurs && (await isPortFree(port)) && (await isPortFree(port, '127.0.0.1'))) return port;
  }
  throw new Error(`No free port between ${first} and ${last}`);
}

function lockPort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const lock = createSocket('udp4');
    lock.once('error', () => lock.close(() => resolve(false)));
    lock.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      lock.unref();
      reservations.set(port, lock);
      resolve(true);
    });
  });
}
