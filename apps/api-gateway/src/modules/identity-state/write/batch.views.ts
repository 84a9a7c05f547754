import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import { applyDecorators } from '@nestjs/common';
import { count, integer, subjectId, subjectType, view, type ViewOf } from '@iss/contract';
import { LiveStream } from '../../../http/answer/json-text';
import { errorBody } from '../../../http/errors/error-body';
import { ERROR_STATUSES } from '../../../http/errors/error-statuses';
import { type Answer, ErrorEnvelope } from '../../../http/describe/openapi';
import { NDJSON } from '../../../http/request/batch-lines';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../../../http/answer/snapshot-header.view';
import { ENVELOPE_EXAMPLE } from '../snapshot/snapshot.openapi';
import type { LineOutcome } from './batch-import.service';

const { snapshot_id, snapshot_version, envelope_hash, prev_hash, created_at } = SnapshotHeader.fields;

const BatchResult = view('BatchResult', {
  line: count.described('The line number, from 1. Empty lines count but have no result.'),
  status: integer.described(
    'The status that a single request would have returned: 201 if the snapshot was stored, 200 if the same ' +
      'snapshot was stored before, otherwise the status of `error`.',
  ),
  snapshot_id: snapshot_id.optional(),
  snapshot_version: snapshot_version.optional(),
  subject_type: subjectType.optional(),
  subject_id: subjectId.optional(),
  envelope_hash: envelope_hash.optional(),
  prev_hash: prev_hash.optional(),
  created_at: created_at.optional(),
  error: ErrorEnvelope.fields.error.optional(),
  retry_after: integer.optional().described('Seconds to wait before sending the line again; with 429 and 503.'),
});
type BatchResult = ViewOf<typeof BatchResult>;

const { subject, ...STORED } = SNAPSHOT_HEADER_EXAMPLE;

/** Documents the response to a batch. */
export const BATCH_RESULTS: Answer = {
  description: 'One result per line, in the order of the lines.',
  content: {
    [NDJSON]: {
      schema: BatchResult.facts.shown,
      example: {
        line: 1,
        status: 201,
        snapshot_id: STORED.snapshot_id,
        snapshot_version: STORED.snapshot_version,
        ...subject,
        envelope_hash: STORED.envelope_hash,
        prev_hash: STORED.prev_hash,
        created_at: STORED.created_at,
      } satisfies BatchResult,
    },
  },
};

/** Documents the body of a batch. */
export const ApiEnvelopeLines = (): MethodDecorator =>
  applyDecorators(
    ApiConsumes(NDJSON),
    ApiBody({
      schema: { title: 'EnvelopeLines', type: 'string', description: 'Envelopes, one per line.' },
      examples: { one: { summary: 'One first snapshot', value: `${JSON.stringify(ENVELOPE_EXAMPLE)}\n` } },
    }),
  );

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
