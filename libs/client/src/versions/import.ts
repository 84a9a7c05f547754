import { canonicalize } from '@iss/domain/pure';
import { CLOCK_SKEW_MS } from '@iss/proof';
import { ApiError, ConnectionError, VerificationError } from '../errors.ts';
import type * as api from '../generated/types.ts';
import { boundedWait, decode } from '../http/answer.ts';
import { notOfThisApi, requireLike, type AnswerShape } from '../http/shape.ts';
import { type CallOptions, isPassing, type Transport } from '../http/transport.ts';
import { jsonOf } from '../json.ts';
import { IMPORT_CHARACTERS, IMPORT_LINES, MAX_REFUSALS_KEPT, STREAM_IDLE_MS } from '../limits.ts';
import { hashText } from '../verify/hash.ts';

/** An envelope, or its JSON text, such as a line of a file. */
export type ImportRecord = api.Envelope | string;

/** The progress of an import. */
export interface ImportProgress {
  /** All records before this one have a result. Pass it as `from` to continue an import. */
  settled: number;
  /** Stored by this import. */
  stored: number;
  /** Already stored before. */
  known: number;
  refused: number;
}

/** A record that the service refused. */
export interface Refusal {
  /** The index of the record, from 0. */
  index: number;
  result: api.BatchResult;
}

export interface ImportReport extends ImportProgress {
  /** At most 1,000. */
  refusals: Refusal[];
}

export interface ImportOptions extends CallOptions {
  /** The number of records to skip: `settled` of an earlier run with the same records. */
  from?: number | undefined;
  onProgress?: ((progress: Readonly<ImportProgress>) => void) | undefined;
  onRefused?: ((refusal: Refusal) => void) | undefined;
}

/** A record to send. */
interface Line {
  readonly index: number;
  readonly text: string;
}

/** Longer than a batch waits for the rate limit of the next minute. */
const RESULT_IDLE_MS = STREAM_IDLE_MS + 60_000;
const RETRY_PAUSE_MS = 500;
const RESULT: AnswerShape<api.BatchResult> = { line: 0, status: 0, envelope_hash: null, retry_after: null };
const ERROR: AnswerShape<api.BatchResult['error']> = { code: '', message: '' };

/**
 * @internal
 * Writes many versions in order, each with its own result. Interrupted requests are repeated from the first record without a result. The
 * service recognizes records that it has already stored.
 *
 * @throws VerificationError `written` if the service stored something else than was sent; ConnectionError or ApiError if retries fail.
 *   `onProgress` has then reported where to continue
 */
export async function importRecords(
  transport: Transport,
  path: string,
  records: Iterable<ImportRecord> | AsyncIterable<ImportRecord>,
  { from = 0, onProgress, onRefused, ...options }: ImportOptions,
): Promise<ImportReport> {
  const startedAt = Date.now() - CLOCK_SKEW_MS;
  const report: ImportReport = { settled: from, stored: 0, known: 0, refused: 0, refusals: [] };
  const settle = async (line: Line, result: api.BatchResult, isRepeated: boolean): Promise<void> => {
    // If an answer was lost, records that its request stored count as stored by this import.
    const isOwn = isRepeated && Date.parse(result.created_at ?? '') >= startedAt;
    if (result.status === 201 || (result.status === 200 && isOwn)) report.stored++;
    else if (result.status === 200) report.known++;
    else {
      if (result.status < 400) throw notOfThisApi();
      requireLike(result.error, ERROR);
      report.refused++;
      const refusal = { index: line.index, result };
      if (report.refusals.length < MAX_REFUSALS_KEPT) report.refusals.push(refusal);
      onRefused?.(refusal);
    }
    if (result.status < 400 && result.envelope_hash !== (await hashText(line.text))) {
      throw new VerificationError('written', `Record ${line.index} was changed.`);
    }
    report.settled = line.index + 1;
    onProgress?.({ ...report });
  };
  for await (const batch of batchesOf(records, from)) {
    await sendBatch(transport, path, batch, settle, options);
  }
  return report;
}

/** Sends lines, with retries, until each has a result. */
async function sendBatch(
  transport: Transport,
  path: string,
  batch: readonly Line[],
  settle: (line: Line, result: api.BatchResult, isRepeated: boolean) => Promise<void>,
  options: CallOptions,
): Promise<void> {
  let left = batch;
  let isRepeated = false;
  for (let failures = 0; left.length > 0;) {
    let done = 0;
    let waitMs: number | null = null;
    try {
      const body = left.map(({ text }) => `${text}\n`).join('');
      const contentType = 'application/x-ndjson';
      const request = { method: 'POST', path, body, contentType, accept: contentType, isRepeatable: false } as const;
      const answers = transport.lines(request, { timeoutMs: RESULT_IDLE_MS, ...options }, RESULT_IDLE_MS);
      for await (const answer of answers) {
        if (answer === '') continue;
        const result = decode<api.BatchResult>(answer, RESULT);
        const line = left[done];
        if (line === undefined || result.line !== done + 1) throw notOfThisApi();
        if (result.status === 408 || result.status === 429 || result.status >= 500) {
          // The failure also affects later versions of the subject, so all lines from here on are sent again.
          waitMs = boundedWait((result.retry_after ?? 1) * 1000);
          throw new ConnectionError(`Record ${line.index}: ${result.error?.message ?? result.status}`);
        }
        await settle(line, result, isRepeated);
        done++;
      }
      if (done < left.length) throw new ConnectionError('The answer ended early.');
    } catch (error) {
      options.signal?.throwIfAborted();
      failures = done > 0 ? 1 : failures + 1;
      if (!isPassing(error) || failures >= transport.maxAttempts) throw error;
      if (error instanceof ApiError) waitMs = error.retryAfterMs ?? waitMs;
      await transport.pause(waitMs ?? RETRY_PAUSE_MS * failures, options.signal);
    } finally {
      left = left.slice(done);
      isRepeated = true;
    }
  }
}

/** Yields batches of canonical lines, each for one request. */
async function* batchesOf(
  records: Iterable<ImportRecord> | AsyncIterable<ImportRecord>,
  from: number,
): AsyncGenerator<readonly Line[], void, undefined> {
  let batch: Line[] = [];
  let characters = 0;
  let index = -1;
  for await (const record of records) {
    index++;
    if (index < from) continue;
    const text = canonicalize(jsonOf(record));
    if (batch.length > 0 && (batch.length === IMPORT_LINES || characters + text.length > IMPORT_CHARACTERS)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push({ index, text });
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}
