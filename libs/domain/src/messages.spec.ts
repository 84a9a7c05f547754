import { decideAccess, requireAccess, type AccessFacts, type AccessRule } from './access/decide-access';
import { parsePeriod, requireFuture } from './envelope/formats';
import { validateEnvelope } from './envelope/envelope';
import { requirePatchAllowed } from './envelope/protected-roots';
import { DomainError } from './errors';
import { applyPatch, parsePatch, type PatchOperation } from './json/patch';
import { parseJsonText } from './json/parse';
import { parsePointer } from './json/pointer';
import { canonicalize } from './json/canonicalize';
import type { JsonValue } from './json/value';
import { againstPolicy, policyProblems } from './provenance/evidence-policy';

/** Returns the library's error that `act` throws. */
function refusalOf(act: () => unknown): DomainError {
  try {
    act();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe('requireAccess', () => {
  const member: AccessFacts['membership'] = { role: 'tenant_reader', status: 'active', allowCounterpartyAccess: false };
  const rule: AccessRule = { role: 'tenant_reader', subject: ['read_latest', 'read_diff'] };
  const grantee: AccessFacts = {
    membership: member,
    ownsSubject: false,
    grantScopes: ['read_latest'],
    grantPaths: null,
  };

  test.each<[reason: string, message: string, facts: AccessFacts, rule: AccessRule]>([
    ['not_a_member', 'You are not a member of this tenant.', { ...grantee, membership: null }, rule],
    ['invitation_pending', 'You were invited to this tenant.', { ...grantee, membership: { ...member, status: 'pending' } }, rule],
    ['member_removed', 'Your membership of this tenant was removed.', { ...grantee, membership: { ...member, status: 'removed' } }, rule],
    ['role_too_low', 'This needs at least tenant_admin in the tenant.', grantee, { role: 'tenant_admin' }],
    ['not_owner', 'GET /v1/tenants/{tenant_id}/subjects lists the owned subjects', grantee, { role: 'tenant_reader', subject: 'owner' }],
    ['owner_or_grant_required', 'GET /v1/tenants/{tenant_id}/subjects lists the subjects that the tenant owns', { ...grantee, grantScopes: null }, rule],
    ['scope_missing', "Ask the subject's owner for a grant with read_latest or read_diff.", { ...grantee, grantScopes: [] }, rule],
    ['counterparty_access_off', 'Your allow_counterparty_access is false, so you cannot use grants.', grantee, rule],
  ])('explains the refusal %s', (reason, message, facts, demanded) => {
    expect(decideAccess(facts, demanded)).toEqual({ allowed: false, reason });
    const error = refusalOf(() => requireAccess(facts, demanded));
    expect([error.name, error.code]).toEqual(['DomainError', 'forbidden']);
    expect(error.message).toContain(message);
  }); // prettier-ignore
});

describe('parseJsonText', () => {
  test.each<[text: string, code: string, message: string]>([
    ['\ufeff{}', 'byte_order_mark', 'The body starts with a byte order mark: leave it out (character 0).'],
    [' ', 'empty_body', 'The body is empty: send a JSON document (character 0).'],
    ['1 2', 'invalid_json', 'Expected the end of the body, found "2" (character 2).'],
    ['[x]', 'invalid_json', 'Expected a value, found "x" (character 1).'],
    ['[1 2]', 'invalid_json', 'Expected "," or "]", found "2" (character 3).'],
    ['{"a":1 2}', 'invalid_json', 'Expected "," or "}", found "2" (character 7).'],
    ['{x', 'invalid_json', 'Expected a key in double quotes, found "x" (character 1).'],
    ['{"a" 1}', 'invalid_json', 'Expected ":", found "1" (character 5).'],
    ['{"a":1,"a":2}', 'duplicate_key', 'The key occurs twice in one object (character 7).'],
    ['"a', 'invalid_json', 'Expected the closing quote of the string (or an escape), found the end of the body (character 2).'],
    ['"\\x"', 'invalid_json', 'The string contains an escape that JSON does not know (character 0).'],
    ['"\\ud800"', 'lone_surrogate', 'The string contains half of a surrogate pair (character 0).'],
    ['-', 'invalid_json', 'Expected a digit, found the end of the body (character 1).'],
    ['tru', 'invalid_json', 'Expected a value, found "t" (character 0).'],
    ['1e400', 'number_not_carried', 'The number is larger than a double can hold: send it as a string (character 0).'],
    ['1e-400', 'number_not_carried', 'The number is closer to zero than a double can hold: send it as a string (character 0).'],
    ['0.123456789012345678', 'number_not_carried', 'The number has more than 17 significant digits: send it as a string (character 0).'],
    ['9007199254740993', 'number_not_carried', 'A double cannot hold this integer exactly: send it as a string (character 0).'],
  ])('explains why it refuses %j', (text, code, message) => {
    const error = refusalOf(() => parseJsonText(text));
    expect(error.message).toBe(message);
    expect(error.details).toMatchObject([{ message, code }]);
  }); // prettier-ignore

  test('names the depth limit that is exceeded', () => {
    const error = refusalOf(() => parseJsonText('[[', { maxDepth: 1 }));
    expect(error.message).toBe('Arrays and objects are nested more than 1 levels deep (character 1).');
  });
});

test.each<[value: unknown, message: string]>([
  [NaN, 'NaN is not a JSON number.'],
  [undefined, 'A JSON document cannot hold a value of type undefined.'],
  ['\ud800', 'A string holds half of a surrogate pair.'],
])('canonicalize explains why it refuses %p', (value, message) => {
  const error = refusalOf(() => canonicalize(value as JsonValue));
  expect([error.code, error.message]).toEqual(['validation_error', message]);
  expect(error.details).toEqual([{ path: '', message, code: 'not_json' }]);
});

test('parsePointer explains why it refuses a text', () => {
  const error = refusalOf(() => parsePointer('a'));
  expect(error.message).toBe('Not a JSON Pointer (RFC 6901): start with "/", and write "~" as "~0" and "/" as "~1" in names.');
  expect(error.details).toEqual([{ path: '', message: error.message, code: 'invalid_pointer' }]);
}); // prettier-ignore

describe('a patch that fails', () => {
  const document: JsonValue = { a: [1, 2], b: { c: 1 } };
  const limits = { maxDepth: 3, maxCopied: 2, maxShifted: 1 };

  test.each<[operation: PatchOperation, code: string, message: string]>([
    [{ op: 'test', path: '/x', value: 1 }, 'test_failed', 'there is no value to test.'],
    [{ op: 'test', path: '/a', value: 1 }, 'test_failed', 'the value is different.'],
    [{ op: 'add', path: '/b/d', value: [[1]] }, 'too_deep', 'arrays and objects would be nested more than 3 levels deep at "/b/d".'],
    [{ op: 'add', path: '/a/3', value: 1 }, 'index_out_of_range', '"path" does not end in an index from 0 to 2.'],
    [{ op: 'remove', path: '' }, 'root_removed', 'the whole document cannot be removed.'],
    [{ op: 'remove', path: '/x' }, 'path_not_found', '"path" does not exist in the document at that point.'],
    [{ op: 'copy', from: '/x', path: '/y' }, 'path_not_found', '"from" does not exist in the document at that point.'],
    [{ op: 'move', from: '/b', path: '/b/d' }, 'invalid_move', 'a value cannot be moved into itself.'],
    [{ op: 'add', path: 'x', value: 1 }, 'invalid_pointer', '"path" is not a JSON Pointer (RFC 6901).'],
    [{ op: 'move', from: 'x', path: '/y' }, 'invalid_pointer', '"from" is not a JSON Pointer (RFC 6901).'],
    [{ op: 'copy', from: '/a', path: '/y' }, 'too_large', 'copy more than 2 values and characters: send fewer.'],
    [{ op: 'remove', path: '/a/0' }, 'too_large', 'shift array elements more than 1 times: replace the whole array.'],
  ])('applyPatch explains why %j fails', (operation, code, message) => {
    const error = refusalOf(() => applyPatch(document, [operation], '/ops', limits));
    expect(error.details).toMatchObject([{ path: '/ops/0', code }]);
    expect(error.details?.[0]?.message).toContain(message);
  }); // prettier-ignore

  test.each<[patch: JsonValue, path: string, code: string]>([
    [{}, '/ops', 'invalid_type'],
    [[1], '/ops/0', 'invalid_type'],
    [[{ op: 'x', path: '' }], '/ops/0/op', 'unknown_operation'],
    [[{ op: 'remove' }], '/ops/0/path', 'required'],
    [[{ op: 'add', path: '' }], '/ops/0/value', 'required'],
    [[{ op: 'move', path: '' }], '/ops/0/from', 'required'],
  ])('parsePatch refuses %j', (patch, path, code) => {
    const { details } = refusalOf(() => parsePatch(patch, { at: '/ops', maxOperations: 1 }));
    expect(details).toMatchObject([{ path, code, message: expect.stringMatching(/./) }]);
  });
});

test('requirePatchAllowed names each operation on a protected path', () => {
  const operations: PatchOperation[] = [
    { op: 'remove', path: '/audit/source' },
    { op: 'replace', path: '', value: 1 },
    { op: 'move', from: '/diff', path: '/attributes/a' },
  ];
  const error = refusalOf(() => requirePatchAllowed(operations, '/ops'));
  expect(error.message).toContain('A patch can change only attributes, evidence, attribute_paths');
  expect(error.details).toEqual([
    { path: '/ops/0', message: 'must not change /audit', code: 'protected_path' },
    { path: '/ops/1', message: 'must not change the whole envelope', code: 'protected_path' },
    { path: '/ops/2', message: 'must not change /diff', code: 'protected_path' },
  ]);
});

test.each([
  ['tomorrow', 'until must be an RFC 3339 date-time with a timezone.'],
  ['2000-01-01T00:00:00Z', 'until must be in the future.'],
])('requireFuture refuses %s', (text, message) => {
  const error = refusalOf(() => requireFuture(text, 'until'));
  expect(error.message).toBe(message);
  expect(error.details).toEqual([
    { path: '/until', message: message.slice('until '.length, -1), code: 'invalid_value' },
  ]);
});

test.each([
  ['2026-02-28', '2026-02-28T00:00:00.000Z', '2026-02-28T23:59:59.999Z'],
  ['2026-02-28T01:00:00+01:00', '2026-02-28T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
])('parsePeriod returns the first and the last moment of %s', (text, first, last) => {
  expect(parsePeriod(text)).toEqual({ first: new Date(first), last: new Date(last) });
});

test.each(['2026-02-30', '2026-02', ' 2026-02-28', '2026-02-28 '])('parsePeriod returns null for %j', (text) => {
  expect(parsePeriod(text)).toBeNull();
});

describe('validateEnvelope', () => {
  const date = '2026-01-01T00:00:00Z';
  const sound = {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: '00000000-0000-4000-8000-000000000000',
    snapshot_version: 1,
    generated_at: date,
    subject: { subject_type: 'entity', subject_id: 'a' },
    attributes: {},
    evidence: [],
    audit: { created_by: 'a', created_at: date, source: 'a' },
  };
  const ref = { evidence_id: 'a', evidence_type: 'b' };
  const item = { ...ref, source: 'c', captured_at: date };

  test('accepts an envelope with all optional members', () => {
    const whole = {
      ...sound,
      evidence: [{ ...item, retrieved_at: null, hash: { alg: 'a', value: 'b' }, locator: 'd', notes: 'e' }],
      attribute_paths: { '/attributes/a': [{ ...ref, role: 'primary' }] },
      diff: { format: 'rfc6902', ops: [{ op: 'remove', path: '' }] },
    };
    expect(validateEnvelope(whole)).toBe(whole);
  });

  test.each<[change: Record<string, JsonValue>, path: string, message: string, code: string]>([
    [{ envelope_version: 'x' }, '/envelope_version', 'must be "entity_state_envelope_v1"', 'invalid_value'],
    [{ envelope_version: 1 }, '/envelope_version', 'must be a string', 'invalid_type'],
    [{ snapshot_id: 'x' }, '/snapshot_id', 'must be a UUID in its 8-4-4-4-12 hexadecimal form', 'invalid_format'],
    [{ snapshot_version: 'x' }, '/snapshot_version', 'must be an integer', 'invalid_type'],
    [{ snapshot_version: 0 }, '/snapshot_version', 'must be between 1 and 2147483647', 'invalid_value'],
    [{ snapshot_version: 2_147_483_648 }, '/snapshot_version', 'must be between 1 and 2147483647', 'invalid_value'],
    [{ generated_at: 'x' }, '/generated_at', 'must be an RFC 3339 date-time with a timezone (Z or +HH:MM)', 'invalid_format'],
    [{ subject: { subject_id: 'a' } }, '/subject/subject_type', 'is required', 'required'],
    [{ subject: { subject_type: 'x', subject_id: 'a' } }, '/subject/subject_type', 'must be "individual" or "organization" or "entity"', 'invalid_value'],
    [{ subject: { subject_type: 'entity', subject_id: '' } }, '/subject/subject_id', 'must be 1 to 512 characters without control characters, and not . or ..', 'invalid_value'],
    [{ subject: { subject_type: 'entity', subject_id: '..' } }, '/subject/subject_id', 'must be 1 to 512 characters without control characters, and not . or ..', 'invalid_value'],
    [{ attributes: [] }, '/attributes', 'must be an object', 'invalid_type'],
    [{ evidence: {} }, '/evidence', 'must be an array', 'invalid_type'],
    [{ evidence: [{ ...ref, captured_at: date }] }, '/evidence/0/source', 'is required', 'required'],
    [{ evidence: [{ ...item, retrieved_at: 'x' }] }, '/evidence/0/retrieved_at', 'must be an RFC 3339', 'invalid_format'],
    [{ evidence: [{ ...item, hash: { alg: 'a' } }] }, '/evidence/0/hash/value', 'is required', 'required'],
    [{ evidence: [{ ...item, locator: 1 }] }, '/evidence/0/locator', 'must be a string', 'invalid_type'],
    [{ evidence: [{ ...item, notes: 1 }] }, '/evidence/0/notes', 'must be a string', 'invalid_type'],
    [{ audit: { created_at: date, source: 'a' } }, '/audit/created_by', 'is required', 'required'],
    [{ audit: { ...sound.audit, request_id: 1 } }, '/audit/request_id', 'must be a string', 'invalid_type'],
    [{ audit: { ...sound.audit, correlation_id: 1 } }, '/audit/correlation_id', 'must be a string', 'invalid_type'],
    [{ attribute_paths: [] }, '/attribute_paths', 'must be an object', 'invalid_type'],
    [{ attribute_paths: { a: [] } }, '/attribute_paths/a', 'must be a JSON Pointer (RFC 6901)', 'invalid_format'],
    [{ attribute_paths: { '': [{ ...ref, role: 'x' }] } }, '/attribute_paths//0/role', 'must be "primary" or "corroborating" or "conflicting"', 'invalid_value'],
    [{ diff: { format: 'x', ops: [] } }, '/diff/format', 'must be "rfc6902"', 'invalid_value'],
    [{ diff: { format: 'rfc6902', ops: [{ op: 'add', path: '' }] } }, '/diff/ops/0/value', 'is required', 'required'],
    [{ diff: { format: 'rfc6902', ops: [{ op: 'copy', path: '' }] } }, '/diff/ops/0/from', 'is required', 'required'],
    [{ diff: { format: 'rfc6902', ops: [{ op: 'remove' }] } }, '/diff/ops/0/path', 'is required', 'required'],
    [{ subject: { subject_type: 'organization', subject_id: 'a' }, attributes: { legal: { legal_name: '' } } }, '/attributes/legal/legal_name', 'must not be empty', 'invalid_value'],
    [{ subject: { subject_type: 'individual', subject_id: 'a' }, attributes: { biographic: { name: { given_name: '' } } } }, '/attributes/biographic/name', 'must have at least one non-empty member of given_name, family_name, formatted_name', 'required'],
  ])('explains why it refuses %j', (change, path, message, code) => {
    const error = refusalOf(() => validateEnvelope({ ...sound, ...change }));
    expect(error.message).toBe('This is not a valid entity_state_envelope_v1 document. Correct each place that details names.');
    expect(error.details).toEqual([{ path, message: expect.stringContaining(message), code }]);
  }); // prettier-ignore

  test('lists at most 100 problems', () => {
    const items = Array.from({ length: 60 }, () => ({}));
    const paths = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`k${at}`, []]));
    expect(refusalOf(() => validateEnvelope({ ...sound, evidence: items })).details).toHaveLength(100);
    expect(refusalOf(() => validateEnvelope({ ...sound, attribute_paths: paths })).details).toHaveLength(100);
  });

  test.each([
    [256, 'k'.repeat(256)],
    [257, `${'k'.repeat(256)}…`],
  ])('cuts a key of %i characters after 256 in a path', (length, shown) => {
    const error = refusalOf(() => validateEnvelope({ ...sound, attribute_paths: { ['k'.repeat(length)]: [] } }));
    expect(error.details?.[0]?.path).toBe(`/attribute_paths/${shown}`);
  });

  test('policyProblems explains each problem of evidence', () => {
    const next = { attributes: { a: 1 }, evidence: [], attribute_paths: { '/attributes/b': [ref] } };
    const unresolved = [
      { path: '/attribute_paths/~1attributes~1b', message: 'names a path that does not exist in the envelope', code: 'unknown_path' },
      { path: '/attribute_paths/~1attributes~1b/0', message: 'names evidence that does not exist in the envelope', code: 'unknown_evidence' },
    ]; // prettier-ignore
    const stale = { path: '/attributes/a', message: 'has a new value without new evidence for it', code: 'no_fresh_evidence' }; // prettier-ignore
    expect(policyProblems('open', null, next)).toEqual([]);
    expect(policyProblems('resolved', null, next)).toEqual(unresolved);
    expect(policyProblems('fresh', null, next)).toEqual([...unresolved, stale]);
    const item = { evidence_id: 'ev-new', evidence_type: 'x' };
    const unreferenced = { path: '/evidence/1', message: 'is new, but no reference names it: add one to attribute_paths for the value that it supports', code: 'unreferenced_evidence' }; // prettier-ignore
    const before = { attributes: { a: 0 }, evidence: [{ evidence_id: 'old' }] };
    const added = { attributes: { a: 1 }, evidence: [{ evidence_id: 'old' }, item] };
    expect(policyProblems('fresh', before, added)).toEqual([stale, unreferenced]);
    // Evidence that no value needs yet is no mistake.
    expect(
      policyProblems('fresh', added, { ...added, evidence: [...added.evidence, { evidence_id: 'more' }] }),
    ).toEqual([]);
    const error = againstPolicy('fresh', unresolved);
    expect(error.message).toBe(
      "The evidence does not meet the tenant's evidence_policy (fresh). Correct each place that details names.",
    );
  });
});
