import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** A fault that the user can fix. It is shown as one line, without a stack. */
export class UserError extends Error {}

/** Prints an error for the user and returns the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof UserError) console.error(error.message);
  else console.error(error);
  return 1;
}

/**
 * The flags of Node for every app: half of the default young generation, in MiB, and no pretenuring, since old objects would
 * keep whole requests in memory (docs/decisions/0011).
 */
export const APP_FLAGS = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring'];

export interface OwnedProcess {
  readonly pid: number;
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<string>;
  readonly running: boolean;
  /** Sends the stop signal, then SIGKILL after `deadlineMs`. Safe to call twice. */
  stop(deadlineMs: number): Promise<void>;
}

/**
 * Starts a process in its own session, so that Ctrl-C reaches only this process, which ends the others in order. If this process
 * is killed (kill -9), a small shell ends the started one and removes `temporaryFolder`.
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

/** Starts the shell, which waits for the end of a pipe that only this process holds open. Windows has neither shell nor signals. */
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

/** Returns whether a process exists, under any owner. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Returns the command line of a process, since process ids are reused. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  }
}

/**
 * Options of an HTTP server for development and tests. Node's servers close a connection after five idle seconds. If a busy client
 * sends its next request at that moment, the request fails.
 */
export const LONG_LIVED = { keepAliveTimeout: 65_000 };

/** Returns whether a server could listen on the port now. */
export function isPortFree(port: number, host?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Below the ports that Linux, macOS and Windows use for outgoing connections and for servers on port 0, so that no process gets
 * one by chance.
 */
const RESERVED_PORTS = { first: 12_000, last: 31_999 };
const MAX_TRIES = 500;
const reservations = new Map<number, Socket>();

/**
 * Reserves a loopback port for the life of this process: no other caller of this function gets it, and a restarted server finds
 * it again. The lock is a UDP socket with the same port, which the kernel releases at the end of the process. Reserves `wanted`
 * if possible.
 */
export async function reservePort(wanted?: number): Promise<number> {
  const { first, last } = RESERVED_PORTS;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = tries === 0 && wanted !== undefined ? wanted : randomInt(first, last + 1);
    const isOurs = reservations.has(port) ? port === wanted : await lockPort(port);
    // On some systems, one address and all addresses can share a port.
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
