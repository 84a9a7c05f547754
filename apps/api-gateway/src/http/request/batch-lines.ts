import { setTimeout as pause } from 'node:timers/promises';
import { DomainError, type Role } from '@iss/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { NDJSON } from '@iss/contract';
import { principalOf } from '../../auth/current-principal.decorator';
import type { LineRefusal, SentLine } from '../../sent-line';
import type { RateLimiter } from '../limits/rate-limiter';
import { requireBodyOf } from './json-body';
import { type Line, LineSplitter } from './line-splitter';

const NDJSON_TYPE = /^application\/x-ndjson\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

const SECOND_MS = 1000;
/** The status for a request that arrives too slowly. */
const TOO_SLOW = 408;
/**
 * The longest total time that a batch waits for its caller's next rate window. After that, lines above the limit are
 * refused, with the time until the window begins.
 */
const PATIENCE_MS = 60_000;

/**
 * Injects the lines of a batch as they arrive. First checks that the caller has this role in the acting tenant, so that
 * nothing is read from others. Throws `unsupported_media_type`, `forbidden`, and `payload_too_large` if the declared
 * length is too large. A problem with one line is reported for that line only. Nothing is read after too many bytes or
 * lines.
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

/**
 * Yields the chunks of a body, and null at its end. A reader that stops early leaves the connection open, because the
 * response is sent on it.
 */
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
    // Not awaited: a late chunk only settles when the connection closes.
    chunks.return?.().catch(() => undefined);
  }
}

const LATE = Symbol('LATE');

/** Limits how long a client may take to complete a line. The service's own processing time does not count. */
class Patience {
  private leftMs: number;

  constructor(private readonly fullMs: number) {
    this.leftMs = fullMs;
  }

  /** Restarts the time limit, because a line has ended. */
  renew(): void {
    this.leftMs = this.fullMs;
  }

  /** Returns the promised value, or `LATE` if the time limit ends first. */
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

/** Yields the lines as their caller's rate allows. Yields the lines before one that has to wait first. */
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

/** Takes the lines of a batch from their caller's rate. A line counts as one request. */
class LineAllowance {
  private patienceMs = PATIENCE_MS;

  constructor(
    private readonly limiter: Pick<RateLimiter, 'window' | 'take'>,
    private readonly principalId: string,
  ) {}

  /** Takes one line. Otherwise returns how long to wait before asking again, or why the line is refused. */
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

/** Returns whether this is the first line of an array, or of a JSON document that spans several lines. */
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
