import { BatchResult, ERROR_STATUSES, NDJSON } from '@iss/contract';
import { LiveStream } from '../../../http/answer/json-text';
import { errorBody } from '../../../http/errors/error-body';
import type { LineOutcome } from './batch-import.service';

/** Returns the response to a batch. */
export function batchAnswer(outcomes: AsyncIterable<readonly LineOutcome[]>, requestId: string): LiveStream {
  return new LiveStream(NDJSON, resultTexts(outcomes, requestId));
}

async function* resultTexts(
  outcomes: AsyncIterable<readonly LineOutcome[]>,
  requestId: string,
): AsyncGenerator<string, void> {
  for await (const group of outcomes) {
    yield group.map((outcome) => `${JSON.stringify(resultOf(outcome, requestId))}\n`).join('');
  }
}

/** Only the first problems of each line are reported, because a batch may have many. */
const MAX_DETAILS = 10;

/** A retry delay for `unavailable`, which is usually brief. */
const RETRY_AFTER_SECONDS = 1;

function resultOf(outcome: LineOutcome, requestId: string): BatchResult {
  const { line } = outcome;
  if ('snapshot' in outcome) {
    const { snapshot, isNew } = outcome;
    return {
      line,
      status: isNew ? 201 : 200,
      snapshot_id: snapshot.snapshotId,
      snapshot_version: snapshot.snapshotVersion,
      subject_type: snapshot.subjectType,
      subject_id: snapshot.subjectId,
      envelope_hash: snapshot.envelopeHash,
      prev_hash: snapshot.prevHash,
      created_at: snapshot.createdAt.toISOString(),
    };
  }
  const { error, status = ERROR_STATUSES[error.code] } = outcome;
  const { retryAfterSeconds = error.code === 'unavailable' ? RETRY_AFTER_SECONDS : undefined } = outcome;
  return {
    line,
    status,
    ...errorBody(error, requestId, MAX_DETAILS),
    ...(retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds }),
  };
}
