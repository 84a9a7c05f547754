import { createHash, type Hash } from 'node:crypto';
import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import type { api, Refusal, Tenant } from '@identity-state/client';
import { DomainError, parseJson } from '@iss/domain';
import { UsageError } from '../command';
import { readLines } from '../files';
import { BEGINNING, type ImportState, type Place } from './import-state';

/** Bytes of a line: more than any deployment takes. */
const MAX_LINE = 64_000_000;
const MAX_DEPTH = 640;
/** Lines that wait for a result: a batch, and so many that are empty or no JSON. */
const MAX_WAITING = 20_000;

/** A line that has no result yet, and where the file is behind it. */
interface Waiting {
  line: number;
  bytes: number;
  sha256: string;
  /** Whether it is sent, or was passed over, being empty, or no JSON. */
  isSent: boolean;
  refusal: RefusedLine | null;
}

/** A line of the report. */
interface RefusedLine {
  line: number;
  status: number | null;
  snapshot_id?: string | undefined;
  error: api.BatchResult['error'] | { code: 'validation_error'; message: string };
}

/**
 * Writes the versions of an archive in their order, from where `state` says. After each batch the refusals are in the report and the
 * place is on the disk, in this order: whatever ends it, a later run goes on there, and no refusal is told twice.
 *
 * @returns where it ended. @throws UsageError where the file is not the one that was begun with; what the client throws
 */
export async function importArchive(
  tenant: Tenant,
  archive: string,
  {
    state,
    report,
    signal,
    onPlace,
  }: { state: ImportState; report: string; signal: AbortSignal; onPlace: (place: Place) => void },
): Promise<Place> {
  let place = state.read();
  const begun = place;
  beginReport(report, begun);
  const waiting: Waiting[] = [];
  /** Those that are sent, by their index there. */
  const sent: Waiting[] = [];
  let settled = 0;
  let forgotten = 0;
  let kept = Promise.resolve();
  onPlace(place);

  /** Takes what has a result off the queue. */
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
    // Whoever waits for it is told.
    kept.catch(() => undefined);
    onPlace(next);
  };

  async function* records(): AsyncGenerator<string, void> {
    for await (const one of linesOf(archive, begun)) {
      // What is on the disk is never far behind what is sent.
      await kept;
      const refusal = one.text === '' ? null : whyNoJson(one.line, one.text);
      const next: Waiting = { ...one, isSent: one.text !== '' && refusal === null, refusal };
      waiting.push(next);
      if (waiting.length > MAX_WAITING)
        throw new UsageError(
          `${archive}: too many lines before line ${one.line} are empty or no JSON. Is it an archive?`,
        );
      if (!next.isSent) continue;
      sent.push(next);
      yield one.text;
    }
  }

  const onRefused = ({ index, result }: Refusal): void => {
    const one = sent[index - forgotten];
    if (one === undefined) throw new RangeError(`Nothing was sent as record ${index}.`);
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

/** The lines behind a place. @throws UsageError where those before are not what they were */
async function* linesOf(archive: string, begun: Place): AsyncGenerator<Line, void> {
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

function requireSame(archive: string, hash: Hash, { lines, sha256 }: Place): void {
  if (hash.copy().digest('hex') === sha256) return;
  throw new UsageError(
    `The first ${lines} lines of ${archive} are not those that have a result: import what it was, or begin anew with --restart.`,
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
      error: { code: 'validation_error', message: `Not sent, for it is no JSON: ${error.message}` },
    };
  }
}

/** What stands in the report behind the place was told, and comes again. */
function beginReport(report: string, { reportBytes, lines }: Place): void {
  if (lines === BEGINNING.lines) return writeFileSync(report, '');
  const size = statSync(report, { throwIfNoEntry: false })?.size ?? 0;
  if (size < reportBytes) throw new UsageError(`${report} lacks what was refused before: begin anew with --restart.`);
  truncateSync(report, reportBytes);
}

/** How many bytes that is. */
function tell(report: string, refusal: RefusedLine): number {
  const text = `${JSON.stringify(refusal)}\n`;
  appendFileSync(report, text, { flush: true });
  return Buffer.byteLength(text);
}
