import {
  type api,
  apiErrorOf,
  type Change,
  ConnectionError,
  IdentityStateError,
  VerificationError,
} from '@identity-state/client';
import { EVENT_TYPES } from '@iss/domain';
import { Failure } from '../src/errors';
import { shortValue } from '../src/service/leaves';
import { showList, showOne, styleOf, table } from '../src/output';
import { Progress } from '../src/import/progress';
import { changeText } from '../src/service/change-text';
import { evidenceText, isAttribution } from '../src/service/evidence';
import { explainedFailure } from '../src/service/failure';
import { attemptText, eventsText } from '../src/service/hooks';
import { untilEnded } from '../src/service/until-ended';
import { visible } from '../src/visible';
import { testContext } from './testing/run-iss';

describe('texts of other principals', () => {
  it.each([
    ['Zürich 🏔', 'Zürich 🏔'],
    ['a\nb\tc', 'a\\u000ab\\u0009c'],
    ['\u001b[2J', '\\u001b[2J'],
    ['\u202egnp', '\\u202egnp'],
    ['a\u2028b\u200fc\u061cd\u2066e', 'a\\u2028b\\u200fc\\u061cd\\u2066e'],
    ['\ud800', '\\ud800'],
    ['\u0085', '\\u0085'],
    ['x'.repeat(2_000), 'x'.repeat(2_000)],
    ['x'.repeat(2_001), `${'x'.repeat(2_000)} …`],
  ])('visible escapes control characters in %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it.each([
    ['a', '"a"'],
    [null, 'null'],
    [undefined, 'nothing'],
    [{ a: ['\u202e'] }, '{"a":["\\u202e"]}'],
  ])('shortValue writes %j in one line', (value, shown) => {
    expect(shortValue(value)).toBe(shown);
  });
});

describe('table', () => {
  it('aligns columns by their longest cell, without trailing spaces', () => {
    const rows = [
      { id: 'a', name: 'longer than its head', note: '' },
      { id: 'a-long-id', name: '', note: 'n' },
    ];
    expect(table(rows).split('\n')).toEqual([
      'ID         NAME                  NOTE',
      'a          longer than its head',
      'a-long-id                        n',
    ]);
    expect(table([])).toBe('');
  });

  it('colours a cell without changing its width', () => {
    const { red } = styleOf({ isColoured: true, isLive: false });
    expect(table([{ a: 'x', b: 'y' }], { a: red }).split('\n')[1]).toBe('\u001b[31mx\u001b[39m  y');
    expect(styleOf({ isColoured: false, isLive: false }).red('x')).toBe('x');
  });
});

async function* from<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

describe('showList and showOne', () => {
  const asRow = (item: number) => ({ number: String(item) });
  it.each([
    [{}, [], ['None.'], []],
    [{}, [1, 2], ['NUMBER\n1\n2'], []],
    [{ json: true }, [1, 2], ['1', '2'], []],
    [{ json: true }, [], [], []],
    [{ limit: '2' }, [1, 2], ['NUMBER\n1\n2'], []],
    [{ limit: '2' }, [1, 2, 3], ['NUMBER\n1\n2'], ['The list continues after 2. Use --limit N to show more.']],
    [{ limit: '1', json: true }, [1, 2], ['1'], ['The list continues after 1. Use --limit N to show more.']],
  ])('print with the options %j the items %j', async (options, items, shown, said) => {
    const { context, printed, complaints } = testContext();
    await showList(options, context, from(items), { asRow, none: 'None.' });
    expect({ printed, complaints }).toEqual({ printed: shown, complaints: said });
  });

  it('print each item of a list as one line with --json', async () => {
    const { context, printed } = testContext();
    await showList({ json: true }, context, from([{ a: 1 }, { b: [2] }]), { asRow: () => ({}), none: 'None.' });
    expect(printed).toEqual(['{"a":1}', '{"b":[2]}']);
  });

  it('print one object as text, or as JSON with --json', () => {
    const { context, printed } = testContext();
    showOne({}, context, { a: 1 }, () => 'for people');
    showOne({ json: true }, context, { a: 1 }, () => 'for people');
    expect(printed).toEqual(['for people', '{\n  "a": 1\n}']);
  });
});

it('Progress overwrites one line of a terminal, and prints nothing without one', () => {
  const { context, complaints } = testContext({ screen: { isColoured: false, isLive: true } });
  const progress = new Progress(context);
  for (const part of [0, 0.499, 1]) progress.show(part, 'text');
  expect(complaints).toEqual([
    `[${'.'.repeat(24)}]   0 %  text`,
    `\u001b[1A\u001b[2K[${'#'.repeat(12)}${'.'.repeat(12)}]  49 %  text`,
    `\u001b[1A\u001b[2K[${'#'.repeat(24)}] 100 %  text`,
  ]);
  const quiet = testContext();
  new Progress(quiet.context).show(0.5, 'text');
  expect(quiet.complaints).toEqual([]);
});

describe('evidence', () => {
  it.each([
    [[], 'none'],
    [[{ evidence_id: 'a', evidence_type: 't' }], 'a (t)'],
    [
      [
        { evidence_id: 'a\n', evidence_type: 't' },
        { evidence_id: 'b', evidence_type: 'u' },
      ],
      'a\\u000a (t), b (u)',
    ],
  ])('evidenceText writes %j in one line', (items, text) => {
    expect(evidenceText(items)).toBe(text);
  });

  it.each([
    ['/evidence', true],
    ['/evidence/0', true],
    ['/attribute_paths/~1attributes', true],
    ['/evidences', false],
    ['/attributes/evidence', false],
  ])('isAttribution of %s returns %s', (path, is) => {
    expect(isAttribution(path)).toBe(is);
  });
});

const at = '2026-01-15T10:00:00Z';
const subject = { subject_type: 'organization', subject_id: 'harbour' } as const;
const grant = { ...subject, log_index: 7, tenant_id: 'agency', grant_id: 'g', grantee_tenant_id: 'bank' } as const;
it.each<[Change, string]>([
  [
    {
      ...subject,
      type: 'snapshot.created',
      log_index: 1,
      tenant_id: 'agency',
      snapshot_id: 's',
      snapshot_version: 3,
      envelope_hash: 'a',
      prev_hash: null,
      created_at: at,
      written_by: 'oidc:p#alice',
      write_request_id: 'request-1',
      change_kind: 'change',
      changed_paths: null,
      subject,
    },
    'organization/harbour@3 of agency',
  ],
  [
    {
      ...subject,
      type: 'snapshot.created',
      log_index: 2,
      tenant_id: 'agency',
      snapshot_id: 's',
      snapshot_version: 4,
      envelope_hash: 'b',
      prev_hash: 'a',
      created_at: at,
      written_by: 'oidc:p#alice',
      write_request_id: 'request-1',
      change_kind: 'correction',
      changed_paths: ['/attributes/a', '/attributes/b', '/attributes/c'],
      subject,
    },
    'organization/harbour@4 of agency, correction: /attributes/a, /attributes/b and 1 more',
  ],
  [
    {
      ...grant,
      type: 'grant.created',
      scopes: ['read_latest', 'read_diff'],
      paths: null,
      starts_at: null,
      expires_at: null,
      created_at: at,
      subject,
    },
    'bank reads organization/harbour of agency: read_latest, read_diff',
  ],
  [
    {
      ...grant,
      subject_type: '*',
      subject_id: '*',
      type: 'grant.changed',
      scopes: ['read_latest'],
      paths: ['/attributes/legal', '/attributes/a'],
      starts_at: at,
      expires_at: at,
      changed_at: at,
      subject: { subject_type: '*', subject_id: '*' },
    },
    `bank reads every subject of agency: read_latest of 2 parts from ${at} until ${at}`,
  ],
  [{ ...grant, type: 'grant.revoked', revoked_at: at, subject }, 'bank no longer reads organization/harbour of agency'],
  [
    {
      ...subject,
      type: 'subject.erased',
      log_index: 9,
      tenant_id: 'agency',
      erased_indexes: [1, 2],
      erased_at: at,
      subject,
    },
    'organization/harbour of agency: 2 versions',
  ],
  [
    {
      type: 'tenant.owner_changed',
      log_index: 10,
      tenant_id: 'agency',
      principal_id: 'oidc:p#ann',
      from_principal_id: null,
      changed_at: at,
    },
    'agency: from nobody to oidc:p#ann',
  ],
])('changeText writes a change in one line: %#', (change, text) => {
  expect(changeText(change)).toBe(text);
});

const attempt = { attempt: 1, started_at: at, status_code: null, error_phase: null, error: null, latency_ms: 12.4 };
it.each<[api.Delivery['attempts'][number] | undefined, string]>([
  [undefined, ''],
  [{ ...attempt, status_code: 204 }, '204, 12 ms'],
  [{ ...attempt, status_code: 500, error_phase: 'status', error: 'HTTP 500' }, '500, 12 ms'],
  [{ ...attempt, error_phase: 'connect', error: 'refused\n' }, 'connect: refused\\u000a, 12 ms'],
])('attemptText writes %j', (one, text) => {
  expect(attemptText(one)).toBe(text);
});

it('eventsText writes a complete list as all', () => {
  expect(eventsText(EVENT_TYPES)).toBe('all');
  expect(eventsText(['grant.created', 'grant.revoked'])).toBe('grant.created, grant.revoked');
});

describe('explainedFailure', () => {
  const api = {
    status: 403,
    code: 'forbidden',
    message: 'You may not.',
    details: [],
    requestId: 'r-1',
    retryAfterMs: null,
    erased: null,
  } as const;
  const places = Array.from({ length: 7 }, (_, index) => ({ path: `/p${index}`, code: 'c', message: 'bad\n' }));
  it.each([
    [apiErrorOf(api), 'You may not (403, request r-1).'],
    [
      apiErrorOf({ ...api, status: 401, code: 'unauthorized', message: 'No token' }),
      'No token (401, request r-1). Sign in again: iss login.',
    ],
    [apiErrorOf({ ...api, status: 502, code: null, message: 'HTTP 502', requestId: null }), 'HTTP 502 (502).'],
    [
      apiErrorOf({ ...api, status: 400, code: 'validation_error', message: 'Bad.', details: places.slice(0, 1) }),
      'Bad (400, request r-1).\n  /p0: bad\\u000a',
    ],
    [new VerificationError('hash', 'Another hash.'), 'Not verified (hash): Another hash. Do not trust this answer.'],
    [new ConnectionError('No answer.'), 'No answer. Check that the service runs at http://iss.example.'],
    [new IdentityStateError('Nobody\u001b'), 'Nobody\\u001b'],
  ])('returns for %j a sentence with the next step', (error, message) => {
    expect(explainedFailure(error, 'http://iss.example')).toEqual(new Failure(message));
  });

  it('names at most five places of a validation error', () => {
    const failure = { ...api, status: 400, code: 'validation_error', message: 'Bad.' } as const;
    for (const [count, rest] of [
      [6, 'and 1 more'],
      [7, 'and 2 more'],
    ] as const) {
      const error = apiErrorOf({ ...failure, details: places.slice(0, count) });
      const lines = Object(explainedFailure(error, '')).message.split('\n');
      expect([lines.length, lines.at(-1)]).toEqual([7, `  ${rest}`]);
    }
  });

  it('returns an unknown error unchanged', () => {
    const error = new RangeError('bug');
    expect(explainedFailure(error, '')).toBe(error);
  });
});

it('untilEnded ignores errors only after an abort', async () => {
  const ending = new AbortController();
  const work = async (): Promise<void> => {
    throw new Error('broken');
  };
  await expect(untilEnded(ending.signal, work)).rejects.toThrow('broken');
  ending.abort();
  await untilEnded(ending.signal, work);
});
