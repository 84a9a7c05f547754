import type { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Level, type Logger } from 'pino';
import { failureOf } from './failure';

export type { Logger } from 'pino';

/** What never reaches a log line, at any of the depths below. */
const SECRET_MEMBERS = [
  'authorization',
  'Authorization',
  'cookie',
  '["set-cookie"]',
  'secret',
  'secrets',
  'password',
  'token',
  'access_token',
  'attributes',
  'envelope',
];
const DEPTHS = ['', '*.', '*.*.', '*.*.*.'];

/**
 * A logger that writes one JSON line an entry (time as RFC 3339) to standard output, or to `destination`. Credentials,
 * secrets and identity attributes are replaced by `[redacted]` in whatever object is logged, down to the fourth level; an
 * error under `err` becomes a {@link failureOf}.
 */
export function createLogger(
  options: { name: string; level: Level | 'silent' },
  destination?: DestinationStream,
): Logger {
  const settings = {
    ...options,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => failureOf(error) },
    redact: {
      paths: DEPTHS.flatMap((depth) => SECRET_MEMBERS.map((name) => pathOf(depth, name))),
      censor: '[redacted]',
    },
  };
  return pino(settings, destination ?? standardOutput());
}

/** Where the applications' modules find the logger. */
export const LOGGER = Symbol('LOGGER');

/** Says what is wrong and goes on, and the failure behind it, if there is one. */
export type Warn = (message: string, error?: unknown) => void;

export function warnTo(logger: Pick<Logger, 'warn'>): Warn {
  return (message, error) => logger.warn({ err: error }, message);
}

/** Members of a log line; they must hold nothing that has to be redacted. */
export type LineMembers = Readonly<Record<string, string | number | null>>;

/**
 * Writes lines of one level and message as the logger would, for what is logged with every request: looking for secrets
 * in members that are never secret takes longer than the rest of the line.
 */
export function lineWriter(logger: Logger, level: Level, message: string): (members: LineMembers) => void {
  if (!logger.isLevelEnabled(level)) return () => undefined;
  const destination: DestinationStream = Reflect.get(logger, pino.symbols.streamSym);
  const bindings = String(Reflect.get(logger, pino.symbols.chindingsSym));
  const head = `{"level":${logger.levels.values[level]},"time":"`;
  const middle = `"${bindings},"msg":${JSON.stringify(message)},`;
  return (members) => destination.write(`${head}${now()}${middle}${JSON.stringify(members).slice(1)}\n`);
}

let nowMs = 0;
let nowText = '';

/** RFC 3339; many lines are of the same millisecond. */
function now(): string {
  const ms = Date.now();
  if (ms !== nowMs) {
    nowMs = ms;
    nowText = new Date(ms).toISOString();
  }
  return nowText;
}

/** UTF-16 units. */
const BLOCK_LENGTH = 65_536;
const FLUSH_MS = 250;

/**
 * Standard output, written in blocks: a system call a line would take a tenth of the time of a read. Lines wait for a
 * quarter of a second at most, and are written out when the process ends, unless it is killed.
 */
function standardOutput(): DestinationStream {
  let block = '';
  const writeOut = (): void => {
    if (block === '') return;
    const text = block;
    block = '';
    output.write(text);
  };
  // Before the listeners of `output`, which end it then.
  process.on('beforeExit', writeOut).on('exit', writeOut);
  // Its own way to collect lines counts the bytes of all of them with each.
  const output = pino.destination({ fd: 1, sync: false });
  setInterval(writeOut, FLUSH_MS).unref();
  return {
    write(line) {
      block += line;
      if (block.length >= BLOCK_LENGTH) writeOut();
    },
  };
}

/** Contexts of Nest that say a line for each module and route, at every start. */
const CHATTY = ['InstanceLoader', 'RoutesResolver', 'RouterExplorer'];

/** Nest's own log lines through the same logger, the context in the member `context`. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...parameters: unknown[]): void {
    this.write('info', message, parameters);
  }

  error(message: unknown, ...parameters: unknown[]): void {
    this.write('error', message, parameters);
  }

  warn(message: unknown, ...parameters: unknown[]): void {
    this.write('warn', message, parameters);
  }

  debug(message: unknown, ...parameters: unknown[]): void {
    this.write('debug', message, parameters);
  }

  verbose(message: unknown, ...parameters: unknown[]): void {
    this.write('trace', message, parameters);
  }

  fatal(message: unknown, ...parameters: unknown[]): void {
    this.write('fatal', message, parameters);
  }

  /** Nest puts the context last and, for errors, the stack before it. */
  private write(level: Level, message: unknown, parameters: unknown[]): void {
    const context = parameters.at(-1);
    if (level === 'info' && typeof context === 'string' && CHATTY.includes(context)) return;
    const [stack] = parameters.length > 1 ? parameters : [];
    const entry = {
      ...(typeof context === 'string' && { context }),
      ...(typeof stack === 'string' && { stack }),
    };
    if (message instanceof Error) this.logger[level]({ ...entry, err: message }, message.message);
    else if (typeof message === 'string') this.logger[level](entry, message);
    else this.logger[level]({ ...entry, detail: message });
  }
}

function pathOf(depth: string, name: string): string {
  return name.startsWith('[') ? depth.slice(0, -1) + name : depth + name;
}
