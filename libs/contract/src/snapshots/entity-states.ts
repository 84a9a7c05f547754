import { envelope, RULES } from '@iss/domain';
import { Envelope, ENVELOPE_EXAMPLE, Snapshot, SNAPSHOT_EXAMPLE } from './snapshots';
import { answer, type ResponseFacts, inLegacyTenant, operations } from '../describe/operation';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from './snapshot-header';
import { view, type ViewOf } from '../describe/view';
import { count, integer, subjectId, subjectType } from '../describe/fields';
import { ErrorEnvelope } from '../describe/errors';
import { IdleQuery } from './queries';

export const NDJSON = 'application/x-ndjson';

/** The body of a direct write, which is stored as it was sent. */
const ENVELOPE_BODY = {
  schema: envelope.schema,
  examples: { first: { summary: 'A first snapshot', value: ENVELOPE_EXAMPLE } },
};

/** The body of a batch. */
const ENVELOPE_LINES = {
  contentType: NDJSON,
  schema: { title: 'EnvelopeLines', type: 'string', description: 'Envelopes, one per line.' },
  examples: { one: { summary: 'One first snapshot', value: `${JSON.stringify(ENVELOPE_EXAMPLE)}\n` } },
};
/** The response to a direct write. */
const WRITTEN = { 201: answer('The stored snapshot.', Snapshot, SNAPSHOT_EXAMPLE) };

/** The response to a direct write without a token. */
const WRITTEN_BY_ANYBODY = {
  201: answer('The stored snapshot.', Snapshot, { ...SNAPSHOT_EXAMPLE, written_by: 'legacy' }),
};

/** The response of the legacy read. */
const STORED = { 200: answer('The envelope as it is stored.', Envelope, ENVELOPE_EXAMPLE) };

const { snapshot_id, snapshot_version, envelope_hash, prev_hash, created_at } = SnapshotHeader.fields;

export const BatchResult = view('BatchResult', {
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
export type BatchResult = ViewOf<typeof BatchResult>;

const { subject, ...WRITTEN_HEADER } = SNAPSHOT_HEADER_EXAMPLE;

/** Documents the response to a batch. */
const BATCH_RESULTS: ResponseFacts = {
  description: 'One result per line, in the order of the lines.',
  content: {
    [NDJSON]: {
      schema: BatchResult.facts.shown,
      example: {
        line: 1,
        status: 201,
        snapshot_id: WRITTEN_HEADER.snapshot_id,
        snapshot_version: WRITTEN_HEADER.snapshot_version,
        ...subject,
        envelope_hash: WRITTEN_HEADER.envelope_hash,
        prev_hash: WRITTEN_HEADER.prev_hash,
        created_at: WRITTEN_HEADER.created_at,
      } satisfies BatchResult,
    },
  },
};

export const ENTITY_STATES = operations('Initial state', '/v1/tenants/{tenant_id}/entity-states', {
  createEntityState: {
    route: 'POST ',
    summary: "Write a subject's first snapshot and become its owner, or write the owner's next version",
    who: RULES.submitFirstState,
    body: ENVELOPE_BODY,
    description:
      'The envelope is stored in canonical form (RFC 8785). `envelope_hash` is the SHA-256 of that text. ' +
      '[/docs/how-to/model](/docs/how-to/model) shows how to model a subject.',
    answers: WRITTEN,
    errors: ['conflict', 'damaged'],
  },
  importEntityStates: {
    route: 'POST /batch',
    summary: 'Write many snapshots, one envelope per line',
    who: RULES.submitFirstState,
    body: ENVELOPE_LINES,
    description:
      'Each line is processed like `POST …/entity-states`. If one line is refused, the others are still stored. ' +
      'Lines of one subject are written in their order.\n\nResults are sent in the order of the lines while you ' +
      'are still sending: read them meanwhile, or send at most 10,000 lines. If the connection breaks, send ' +
      'everything again; stored lines return 200.\n\nEach line counts as one request against the rate limit. If ' +
      'the limit is reached, the batch waits for the next minute, for at most 60 seconds in total. After that, ' +
      'each line above the limit has the status 429 and `retry_after`: send only these lines again. If no line ' +
      'arrives completely within 30 seconds, the last result is 408. `Idempotency-Key` is not allowed, because `snapshot_id` ' +
      'identifies a line.',
    answers: { 200: BATCH_RESULTS },
    takesNoKey: true,
  },
});

const WHERE =
  '`local` and `development` always have this path. `staging` and `production` have it only with ' +
  '`LEGACY_ENTITY_STATES=enabled`, and then it needs a token.';

export const LEGACY_ENTITY_STATES = operations('Initial state', '/v1/entity-states', {
  createLegacyEntityState: {
    route: 'POST ',
    summary: 'Write a snapshot for the legacy tenant',
    who: inLegacyTenant(RULES.submitFirstState),
    body: ENVELOPE_BODY,
    description:
      `${WHERE} The snapshot belongs to the tenant \`LEGACY_TENANT_ID\`. If a token is needed, the caller must be ` +
      'at least `tenant_editor` there. Use `POST /v1/tenants/{tenant_id}/entity-states` instead.',
    deprecated: true,
    answers: WRITTEN_BY_ANYBODY,
    errors: ['forbidden', 'conflict', 'damaged'],
  },
  getLegacyEntityState: {
    route: 'GET /{snapshot_id}',
    summary: 'Read a stored envelope by its snapshot_id',
    who: 'anyone',
    public: 'legacy_paths_are_public',
    query: IdleQuery,
    description:
      `${WHERE} Without a token, only snapshots of the tenant \`LEGACY_TENANT_ID\` are returned. A caller with a ` +
      'token can also read snapshots that it may read by id, as a member of the owner or through a grant with ' +
      '`read_snapshot_by_id`. All others return 404. Use `GET /v1/snapshots/{snapshot_id}` instead.',
    deprecated: true,
    answers: STORED,
    errors: ['not_found', 'erased', 'damaged'],
  },
});
