import { setTimeout as pause } from 'node:timers/promises';
import { DomainError, type Role } from '@iss/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../auth/current-principal.decorator';
import type { LineRefusal, SentLine } from '../../sent-line';
import type { RateLimiter } from '../limits/rate-limiter';
import { requireBodyOf } from './json-body';
import { type Line, LineSplitter } from './line-splitter';

export const NDJSON = 'application/x-ndjson';
const NDJSON_TYPE = /^application\/x-ndjson\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

const SECOND_MS = 1000;
/** As any request that comes too slowly. */
const TOO_SLOW = 408;
/** For so long in all a batch waits for its caller's next minute; the lines after that are told when it begins. */
const PATIENCE_MS = 60_000;

/**
 * Injects the lines of a batch as they come, once it is known that the caller has this role in the tenant that acts: nothing
 * is read that nobody asks for. Throws `unsupported_media_type`, `payload_too_large` when the length is told, `forbidden`.
 * What is wrong with a line is told of that line; what comes behind too many bytes or lines is not read.
 */
export const BatchLines = createParamDecorator(
  async (role: Role, context: ExecutionContext): Promise<AsyncIterable<readonly SentLine[]>> => {
    const request = context.switchToHttp().getRequest<Request>();
    const { limits, largeBodies } = request.settings;
    requireBodyOf(request, NDJSON_TYPE, NDJSON);
    if (Number(request.headers['content-length'] ?? 0) > limits.batchBytes) throw tooManyBytes(limits.batchBytes);
    await largeBodies.require(context, role);
    return linesOf(request);
  },
);

async function* linesOf(request: Request): AsyncGenerator<readonly SentLine[], void> {
  const { limits, limiter, ended } = request.settings;
  const patience = new Patience(limits.batchLineMs);
  const splitter = new LineSplitter(limits.bodyBytes);
  const allowance = new LineAllowance(limiter, principalOf(request).principalId);
  let received = 0;
  let last = 0;
  for await (const chunk of chunksOf(request, patience)) {
    if (chunk === LATE) {
      ended.add('slow_batch');
      return yield [tooSlow(last + 1, limits.batchLineMs)];
    }
    received += chunk?.length ?? 0;
    const lines = chunk === null ? splitter.end() : splitter.push(chunk);
    last = lines.at(-1)?.line ?? last;
    if (lines.length > 0) patience.renew();
    if (lines.some(isBeginOfDocument)) return yield [notRead(1, notLines())];
    const fitting = lines.filter(({ line }) => line <= limits.batchLines);
    yield* sentLines(fitting, limits.bodyBytes, allowance);
    if (fitting.length < lines.length) return yield [notRead(limits.batchLines + 1, tooManyLines(limits.batchLines))];
    if (received > limits.batchBytes) return yield [notRead(last + 1, tooManyBytes(limits.batchBytes))];
  }
}

/** The chunks of a body, and null at its end. Whoever leaves off leaves the connection as it is: the answer goes out on it. */
async function* chunksOf(request: Request, patience: Patience): AsyncGenerator<Buffer | null | typeof LATE, void> {
  const chunks: AsyncIterator<unknown> = request.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const next = await patience.waitFor(chunks.next());
      if (next === LATE) return yield LATE;
      if (next.done === true) return yield null;
      if (Buffer.isBuffer(next.value)) yield next.value;
    }
  } finally {
    // Not waited for: where a chunk is late, it is done when the connection is.
    chunks.return?.().catch(() => undefined);
  }
}

const LATE = Symbol('LATE');

/** For how long a client is waited for until a line ends. The time that the service takes for itself does not count. */
class Patience {
  private leftMs: number;

  constructor(private readonly fullMs: number) {
    this.leftMs = fullMs;
  }

  /** A line has ended. */
  renew(): void {
    this.leftMs = this.fullMs;
  }

  /** Gives the promised value, or `LATE` when patience ends before. */
  async waitFor<Value>(promised: Promise<Value>): Promise<Value | typeof LATE> {
    const beganMs = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<typeof LATE>((resolve) => {
      timer = setTimeout(() => resolve(LATE), Math.max(this.leftMs, 0));
    });
    try {
      return await Promise.race([promised, late]);
    } finally {
      clearTimeout(timer);
      this.leftMs -= performance.now() - beganMs;
    }
  }
}

/** The lines, as far as their caller's rate allows them to be looked at. Those before one that waits are given first. */
async function* sentLines(
  lines: readonly Line[],
  maxBytes: number,
  allowance: LineAllowance,
): AsyncGenerator<readonly SentLine[], void> {
  let ready: SentLine[] = [];
  for (const { line, bytes } of lines) {
    let verdict = await allowance.take();
    while (verdict.kind === 'wait') {
      yield ready;
      ready = [];
      await pause(verdict.ms);
      verdict = await allowance.take();
    }
    if (verdict.kind === 'refused') ready.push({ line, refusal: verdict.refusal });
    else if (bytes === null) ready.push({ line, refusal: tooLong(maxBytes) });
    else ready.push({ line, bytes });
  }
  yield ready;
}

type Verdict = { kind: 'taken' } | { kind: 'wait'; ms: number } | { kind: 'refused'; refusal: LineRefusal };

/** What a batch may still take of its caller's rate: a line counts as one request. */
class LineAllowance {
  private patienceMs = PATIENCE_MS;

  constructor(
    private readonly limiter: Pick<RateLimiter, 'window' | 'take'>,
    private readonly principalId: string,
  ) {}

  /** Takes a line; or says how long to wait before it is asked for again, or why it is not to be had. */
  async take(): Promise<Verdict> {
    if (this.limiter.window.limit === 0) return { kind: 'taken' };
    try {
      const { isAllowed, limit, resetSeconds } = await this.limiter.take(this.principalId);
      if (isAllowed) return { kind: 'taken' };
      const ms = resetSeconds * SECOND_MS;
      if (ms > this.patienceMs) return { kind: 'refused', refusal: rateLimited(limit, resetSeconds) };
      this.patienceMs -= ms;
      return { kind: 'wait', ms };
    } catch (error) {
      if (error instanceof DomainError) return { kind: 'refused', refusal: { error } };
      throw error;
    }
  }
}

/** Says if a line is the first one of JSON that was written over several lines, or of an array. */
function isBeginOfDocument({ line, bytes }: Line): boolean {
  return (
    line === 1 && bytes !== null && /^\s*(?:\{\s*$|\[)/.test(Buffer.from(bytes.subarray(0, 64)).toString('latin1'))
  );
}

function notLines(): DomainError {
  return new DomainError(
    'validation_error',
    'The body is one JSON document, not NDJSON; no part of it was processed. Send each envelope on its own ' +
      'line, as jq -c writes it.',
  );
}

function notRead(line: number, error: DomainError): SentLine {
  return { line, refusal: { error } };
}

function tooSlow(line: number, ms: number): SentLine {
  const message =
    `The batch arrived too slowly: no line ended within ${ms} ms. This line and the later ones were not read. ` +
    'Send every line without a result in another batch.';
  return { line, refusal: { error: new DomainError('validation_error', message), status: TOO_SLOW } };
}

function rateLimited(limit: number, retryAfterSeconds: number): LineRefusal {
  const message =
    `More than ${limit} requests per minute; each line counts as one. Send this line again in ` +
    `${retryAfterSeconds} s.`;
  return { error: new DomainError('rate_limited', message), retryAfterSeconds };
}

function tooLong(maxBytes: number): LineRefusal {
  return { error: tooLarge(`The line is larger than ${maxBytes} bytes. Send a smaller one.`) };
}

function tooManyLines(max: number): DomainError {
  return tooLarge(
    `A batch has at most ${max} lines. This line and the later ones were not read. Send them in another batch.`,
  );
}

function tooManyBytes(max: number): DomainError {
  return tooLarge(`A batch has at most ${max} bytes. Send every line without a result in another batch.`);
}

function tooLarge(message: string): DomainError {
  return new DomainError('payload_too_large', message);
}
