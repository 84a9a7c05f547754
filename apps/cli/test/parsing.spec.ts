import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENT_TYPES, READ_SCOPES } from '@iss/domain';
import { numberOf, requiredText } from '../src/command';
import { readLines, readWhole, systemCode } from '../src/files';
import { below } from '../src/fetch-text';
import { baseUrlOf } from '../src/identity/base-url';
import { claimsOf } from '../src/service/caller';
import { readEvidence } from '../src/service/evidence';
import { eventTypesOf } from '../src/service/hooks';
import { momentOf, momentToCome } from '../src/service/moments';
import { scopesOf } from '../src/service/scopes';
import { subjectOf, versionedSubjectOf } from '../src/service/subject-name';
import { startedOf } from '../src/settings';

const NOW_MS = Date.UTC(2026, 0, 15, 10);

describe('momentOf and momentToCome', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00Z'],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z'],
    ['2026-01-31T12:00:00.5+02:00', '2026-01-31T12:00:00.5+02:00'],
  ])('read %s as %s', (text, moment) => {
    expect(momentOf(text, 'at')).toBe(moment);
    expect(momentToCome(text, 'until', NOW_MS)).toBe(moment);
  });

  it.each([
    ['1h', '2026-01-15T11:00:00.000Z'],
    ['90d', '2026-04-15T10:00:00.000Z'],
  ])('read the distance %s as %s', (text, moment) => {
    expect(momentToCome(text, 'until', NOW_MS)).toBe(moment);
  });

  it.each(['', 'tomorrow', '0d', '5m', '2026-1-1', '2026-13-01', '2026-01-31T12:00:00', '2026-02-30T99:00:00Z'])(
    'refuse %j',
    (text) => {
      expect(() => momentToCome(text, 'until', NOW_MS)).toThrow(/^--until takes a time/);
    },
  );

  it('momentOf refuses a distance from now', () => {
    expect(() => momentOf('90d', 'at')).toThrow(/^--at takes a time/);
  });
});

describe('options that take a list', () => {
  it.each([
    ['all', [...READ_SCOPES]],
    ['latest', ['read_latest']],
    ['read_diff,latest,diff', ['read_diff', 'read_latest']],
  ])('--scopes %s returns the scopes', (text, scopes) => {
    expect(scopesOf(text)).toEqual(scopes);
  });

  it.each(['', 'everything', 'latest,', 'Latest'])('--scopes %j is refused', (text) => {
    expect(() => scopesOf(text)).toThrow(/^--scopes takes all, or a comma-separated list of/);
  });

  it.each([
    ['all', [...EVENT_TYPES]],
    ['grant.created', ['grant.created']],
    ['grant.created,grant.revoked', ['grant.created', 'grant.revoked']],
  ])('--events %s returns the event types', (text, types) => {
    expect(eventTypesOf(text)).toEqual(types);
  });

  it.each(['', 'grant', 'grant.created,', 'webhook.test'])('--events %j is refused', (text) => {
    expect(() => eventTypesOf(text)).toThrow(/^--events: unknown event type/);
  });
});

describe('the name of a subject', () => {
  it.each([
    ['acme-corp', { type: 'organization', id: 'acme-corp' }, null],
    ['organization/acme', { type: 'organization', id: 'acme' }, null],
    ['individual/jane@2', { type: 'individual', id: 'jane' }, 2],
    ['entity/entity/1', { type: 'entity', id: 'entity/1' }, null],
    ['person/jane', { type: 'organization', id: 'person/jane' }, null],
    ['jane@acme.example', { type: 'organization', id: 'jane@acme.example' }, null],
    ['jane@acme.example@12', { type: 'organization', id: 'jane@acme.example' }, 12],
    ['acme@0', { type: 'organization', id: 'acme@0' }, null],
    ['acme@12345678901', { type: 'organization', id: 'acme@12345678901' }, null],
  ] as const)('is read from %s', (text, subject, version) => {
    expect(versionedSubjectOf(text)).toEqual({ subject, version });
  });

  it.each(['', 'organization/'])('is refused: %j', (text) => {
    expect(() => subjectOf(text)).toThrow(/^The subject has no id/);
  });
});

describe('the address of a service', () => {
  it.each([
    ['http://localhost:3000', 'http://localhost:3000'],
    ['https://iss.example/prefix//', 'https://iss.example/prefix'],
  ])('is read from %s', (text, url) => {
    expect(baseUrlOf('--base-url', text)).toBe(url);
    expect(below(text, 'checkpoint').href).toBe(`${url}/checkpoint`);
  });

  it.each(['', 'localhost:3000', 'ftp://iss.example', 'http://', 'javascript:alert(1)'])('is refused: %j', (text) => {
    expect(() => baseUrlOf('--base-url', text)).toThrow('--base-url takes an http(s) URL.');
    expect(() => below(text, 'checkpoint')).toThrow(/^--log takes the URL prefix/);
  });

  it.each(['http://log.example/log?a=1', 'http://log.example/#a'])(
    'is refused for a log if it has a query or fragment: %s',
    (text) => {
      expect(() => below(text, 'checkpoint')).toThrow(/^--log takes the URL prefix/);
    },
  );
});

describe('options', () => {
  it.each([
    ['1', 1],
    ['50', 50],
    ['007', 7],
    [undefined, undefined],
  ])('--limit %s is read as %s', (text, number) => {
    expect(numberOf({ limit: text }, 'limit', [1, 50])).toBe(number);
  });

  it.each(['0', '51', '-1', '1e1', '1.0', ' 1', '', 'two', '9'.repeat(16)])('--limit %j is refused', (text) => {
    expect(() => numberOf({ limit: text }, 'limit', [1, 50])).toThrow('--limit takes a whole number from 1 to 50.');
  });

  it('requiredText refuses a missing or empty option', () => {
    expect(requiredText({ key: 'file' }, 'key', 'FILE')).toBe('file');
    for (const key of [undefined, '', true]) {
      expect(() => requiredText({ key }, 'key', 'FILE')).toThrow('--key is missing: --key FILE.');
    }
  });
});

it.each([
  [{}, null],
  [{ ISS_STARTED_QUEUE_URL: 'q' }, null],
  [
    { ISS_STARTED_QUEUE_URL: 'q', ISS_STARTED_ISSUER: 'i' },
    { queueUrl: 'q', issuer: 'i' },
  ],
])('startedOf reads the variables %j', (variables, started) => {
  expect(startedOf(variables)).toEqual(started);
});

it.each([
  [`h.${Buffer.from('{"sub":"ann","exp":1}').toString('base64url')}.s`, { sub: 'ann', exp: 1 }],
  ['opaque', {}],
  ['a.b.c', {}],
  [`h.${Buffer.from('null').toString('base64url')}.s`, {}],
  ['', {}],
])('claimsOf reads %s', (token, claims) => {
  expect(claimsOf(token)).toEqual(claims);
});

describe('files', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'iss-parsing-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  function file(content: string): string {
    const path = join(folder, 'file');
    writeFileSync(path, content);
    return path;
  }

  const item = { evidence_id: 'e', evidence_type: 't', source: 's', captured_at: '2026-01-01T00:00:00Z' };
  it.each([
    [JSON.stringify(item), [item]],
    [JSON.stringify([item, { ...item, note: 'kept' }]), [item, { ...item, note: 'kept' }]],
    ['[]', []],
  ])('readEvidence reads %s', (content, evidence) => {
    expect(readEvidence(file(content))).toEqual(evidence);
  });

  it.each(['1', 'null', '{}', JSON.stringify({ ...item, source: 1 }), JSON.stringify([item, {}])])(
    'readEvidence refuses %s',
    (content) => {
      expect(() => readEvidence(file(content))).toThrow(/is not evidence: /);
    },
  );

  it.each([
    ['', []],
    ['a', ['a']],
    ['a\nb\n', ['a', 'b']],
    ['\n\nc', ['', '', 'c']],
  ])('readLines reads %j', async (content, lines) => {
    const read: string[] = [];
    for await (const line of readLines(file(content), 'archive', 10)) read.push(line.toString());
    expect(read).toEqual(lines);
  });

  it('readWhole and readLines name a file that is too long or unreadable', async () => {
    const path = file('12345678901');
    expect(() => readWhole(path, 'policy', 10)).toThrow(`${path} has more than 10 bytes. Name the file of the policy.`);
    expect(readWhole(path, 'policy', 11).toString()).toBe('12345678901');
    const drain = async (name: string): Promise<void> => {
      for await (const line of readLines(name, 'archive', 10)) void line;
    };
    await expect(drain(path)).rejects.toThrow(/has a line of more than 10 bytes\./);
    await expect(drain(join(folder, 'none'))).rejects.toThrow(
      /cannot be read \(ENOENT\)\. Name the file of the archive/,
    );
    expect(() => readWhole(folder, 'policy', 10)).toThrow(/cannot be read \(EISDIR\)/);
  });
});

it.each([
  [{ code: 'ENOENT' }, 'ENOENT'],
  [{ code: 5 }, undefined],
  [new Error('x'), undefined],
  [null, undefined],
  ['ENOENT', undefined],
])('systemCode of %j is %s', (error, code) => {
  expect(systemCode(error)).toBe(code);
});
