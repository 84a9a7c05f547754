import { createHash, type Hash } from 'node:crypto';
import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import type { api, Refusal, Tenant } from '@identity-state/client';
import { DomainError, parseJson } from '@iss/domain';
import { UsageError } from '../command';
import { readLines } from '../files';
import { BEGINNING, type ImportState, type ImportPlace } from './import-state';

/** The limit of a line in bytes, which is above the limit of any deployment. */
const MAX_LINE = 64_000_000;
const MAX_DEPTH = 640;
/** The most lines without a result: a batch, with the empty and invalid lines before it. */
const MAX_WAITING = 20_000;

/** A line without a result yet, and the position of the file after it. */
interface Waiting {
  line: number;
  bytes: number;
  sha256: string;
  /** False for an empty line, and for one that is not JSON. */
  isSent: boolean;
  refusal: RefusedLine | null;
}

/** A line of the report of refused lines. */
interface RefusedLine {
  line: number;
  status: number | null;
  snapshot_id?: string | undefined;
  error: api.BatchResult['error'] | { code: 'validation_error'; message: string };
}

/**
 * Imports an archive in order, starting at the saved place. After each batch, it first writes the refusals to the report and then
 * saves the place. An interrupted import can therefore continue without repeating a refusal.
 *
 * @returns the final place. @throws UsageError if the finished lines of the file have changed; errors of the client
 */
export async function importArchive(
  tenant: Tenant,
  archive: string,
  {
    state,
    report,
    signal,
    onPlace,
  }: { state: ImportState; report: string; signal: AbortSignal; onPlace: (place: ImportPlace) => void },
): Promise<ImportPlace> {
  let place = state.read();
  const begun = place;
  beginReport(report, begun);
  const waiting: Waiting[] = [];
  /** The sent lines, by their index in the request. */
  const sent: Waiting[] = [];
  let settled = 0;
  let forgotten = 0;
  let kept = Promise.resolve();
  onPlace(place);

  /** Removes the lines with a result from the queue and saves the place. */
  const advance = (progress: { settled: number; stored: number; known: number }): void => {
    const before = place;
    while (waiting.length > 0 && (waiting[0]?.isSent === false || settled < progress.settled)) {
      const one = waiting.shift();
      if (one === undefined) break;
      if (one.isSent) settled++;
      const told = one.refusal === null ? 0 : tell(report, one.refusal);
      const { line: lines, bytes, sha256 } = one;
      place = {
        ...place,
        lines,
        bytes,
        sha256,
        refused: place.refused + (told > 0 ? 1 : 0),
        reportBytes: place.reportBytes + told,
      };
    }
    sent.splice(0, settled - forgotten);
    forgotten = settled;
    place = { ...place, stored: begun.stored + progress.stored, known: begun.known + progress.known };
    if (place.lines === before.lines) return;
    const next = place;
    kept = kept.then(() => state.write(next));
    // Avoids an unhandled rejection. Readers await `kept`.
    kept.catch(() => undefined);
    onPlace(next);
  };

  async function* records(): AsyncGenerator<string, void> {
    for await (const one of linesOf(archive, begun)) {
      // Keeps the saved place close to the sent lines.
      await kept;
      const refusal = one.text === '' ? null : whyNoJson(one.line, one.text);
      const next: Waiting = { ...one, isSent: one.text !== '' && refusal === null, refusal };
      waiting.push(next);
      if (waiting.length > MAX_WAITING)
        throw new UsageError(
          `${archive}: too many lines before line ${one.line} are empty or not JSON. Check that it is an NDJSON archive.`,
        );
      if (!next.isSent) continue;
      sent.push(next);
      yield one.text;
    }
  }

  const onRefused = ({ index, result }: Refusal): void => {
    const one = sent[index - forgotten];
    if (one === undefined) throw new RangeError(`No record ${index} was sent.`);
    one.refusal = { line: one.line, status: result.status, snapshot_id: result.snapshot_id, error: result.error };
  };
  try {
    const done = await tenant.import(records(), { onProgress: advance, onRefused, signal });
    advance(done);
  } finally {
    await kept;
  }
  return place;
}

interface Line {
  line: number;
  bytes: number;
  sha256: string;
  text: string;
}

/** Yields the lines after a place. @throws UsageError if the lines before it have changed */
async function* linesOf(archive: string, begun: ImportPlace): AsyncGenerator<Line, void> {
  const hash: Hash = createHash('sha256');
  let [line, bytes] = [0, 0];
  for await (const content of readLines(archive, 'archive', MAX_LINE)) {
    if (line === begun.lines) requireSame(archive, hash, begun);
    line++;
    bytes += content.length + 1;
    hash.update(content).update('\n');
    if (line <= begun.lines) continue;
    yield { line, bytes, sha256: hash.copy().digest('hex'), text: content.toString('utf8').trim() };
  }
  if (line <= begun.lines) requireSame(archive, hash, begun);
}

function requireSame(archive: string, hash: Hash, { lines, sha256 }: ImportPlace): void {
  if (hash.copy().digest('hex') === sha256) return;
  throw new UsageError(
    `The first ${lines} lines of ${archive} have changed since they were imported. Restore them, or start again with --restart.`,
  );
}

function whyNoJson(line: number, text: string): RefusedLine | null {
  try {
    parseJson(Buffer.from(text), { maxDepth: MAX_DEPTH });
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return {
      line,
      status: null,
      error: { code: 'validation_error', message: `Not sent, because it is not valid JSON: ${error.message}` },
    };
  }
}

/** Removes the refusals after the saved place, which will be reported again. @throws UsageError if earlier ones are missing */
function beginReport(report: string, { reportBytes, lines }: ImportPlace): void {
  if (lines === BEGINNING.lines) return writeFileSync(report, '');
  const size = statSync(report, { throwIfNoEntry: false })?.size ?? 0;
  if (size < reportBytes) throw new UsageError(`${report} has lost earlier refusals. Start again with --restart.`);
  truncateSync(report, reportBytes);
}

/** Appends a refusal to the report and returns its size in bytes. */
function tell(report: string, refusal: RefusedLine): number {
  const text = `${JSON.stringify(refusal)}\n`;
  appendFileSync(report, text, { flush: true });
  return Buffer.byteLength(text);
}
