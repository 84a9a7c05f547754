import type { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Level, type Logger } from 'pino';
import { failureOf } from './process/failure';

export type { Logger } from 'pino';

/** Members that are never logged, at any of the depths below. */
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
 * Creates a logger that writes one JSON line per entry (time as RFC 3339) to standard output or to `destination`.
 * Credentials, secrets and identity attributes are replaced by `[redacted]` in every logged object, down to the fourth
 * level. An error under `err` is logged as a {@link failureOf}.
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
  return pino(settings, destination ?? (standardOutput ??= openStandardOutput()));
}

/** The injection token of the logger. */
export const LOGGER = Symbol('LOGGER');

/** Logs a warning and the error behind it, if there is one. */
export type Warn = (message: string, error?: unknown) => void;

export function warnTo(logger: Pick<Logger, 'warn'>): Warn {
  return (message, error) => logger.warn({ err: error }, message);
}

/** Members of a log line. They must not contain anything that has to be redacted. */
export type LineMembers = Readonly<Record<string, string | number | null>>;

/**
 * Returns a function that writes lines with this level and message in the logger's format, for lines of every request.
 * Redacting members that are never secret would take longer than the rest of the line.
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

/** Returns the time as RFC 3339. It is cached, because many lines have the same millisecond. */
function now(): string {
  const ms = Date.now();
  if (ms !== nowMs) {
    nowMs = ms;
    nowText = new Date(ms).toISOString();
  }
  return nowText;
}

/** UTF-16 code units. */
const BLOCK_LENGTH = 65_536;
const FLUSH_MS = 250;

/** All loggers of the process share it. */
let standardOutput: DestinationStream | undefined;

/**
 * Writes standard output in blocks: a system call per line would take a tenth of the time of a read. Lines are delayed
 * by at most a quarter of a second. They are written before the process ends, unless it is killed.
 */
function openStandardOutput(): DestinationStream {
  let block = '';
  const writeOut = (): void => {
    if (block === '') return;
    const text = block;
    block = '';
    output.write(text);
  };
  // Registered before the listeners of `output`, which close it.
  process.on('beforeExit', writeOut).on('exit', writeOut);
  // pino's own buffering counts the bytes of the whole buffer for each line.
  const output = pino.destination({ fd: 1, sync: false });
  setInterval(writeOut, FLUSH_MS).unref();
  return {
    write(line) {
      block += line;
      if (block.length >= BLOCK_LENGTH) writeOut();
    },
  };
}

/** Contexts of Nest that log a line for each module and route at every start. */
const CHATTY = ['InstanceLoader', 'RoutesResolver', 'RouterExplorer'];

/** Writes Nest's log lines with this logger. The context becomes the member `context`. */
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

  /** Nest passes the context last and, for errors, the stack before it. */
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
