import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchBytes } from '../src/fetch-text';
import { settingsOf } from '../src/settings';
import { type FakeService, fakeService, Refusal } from './testing/fake-service';
import { iss } from './testing/run-iss';

/** The text forges a line, clears the screen, and changes the direction of writing. */
const POISON = '\nFORGED\u001b[2J\u009b2J\u202e\u200b';

let service: FakeService;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-hostile-'));
  service = await fakeService();
  const envelope = { snapshot_version: 1, subject: { subject_type: 'organization', subject_id: 'harbour' } };
  writeFileSync(join(folder, 'envelope.json'), JSON.stringify(envelope));
  writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [{}] }));
});
afterAll(() => {
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

it('fetchBytes refuses redirects and answers above the size limit', async () => {
  const url = new URL('http://log.example/checkpoint');
  const fetched = jest.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('12345'));
  try {
    expect(String(await fetchBytes(url, undefined, 5))).toBe('12345');
    await expect(fetchBytes(url, undefined, 4)).rejects.toThrow('answers more than 4 bytes');
    expect(fetched).toHaveBeenLastCalledWith(url, expect.objectContaining({ redirect: 'error' }));
  } finally {
    fetched.mockRestore();
  }
});

/** The same answer to every request, with each text that any command shows. */
const subject = { subject_type: 'organization', subject_id: 'harbour' };
const ref = { evidence_id: 'e', evidence_type: 't' };
const attempt = { attempt: 1, started_at: 'x', status_code: 204, error_phase: null, error: null, latency_ms: 1 };
const item = {
  ...subject,
  subject,
  snapshot_version: 1,
  base_snapshot_version: 1,
  envelope_hash: 'a',
  created_at: 'x',
  tenant_id: 'agency',
  name: 'Agency',
  api_functional_role: 'tenant_owner',
  grant_id: 'g',
  grantee_tenant_id: 'bank',
  granted_by_tenant_id: 'bank',
  scopes: ['read_latest'],
  status: 'active',
  expires_at: 'x',
  revoked_at: 'x',
  update_id: 'u',
  patch_ops: [{ op: 'add', path: '/p', value: 'v' }],
  proposed_by: 'p',
  initiated_by: 'p',
  refresh_request_id: 'r',
  refresh_request: { refresh_request_id: 'r', subject, status: 's', requesting_tenant_id: 'bank' },
  requesting_tenant_id: 'bank',
  requested_paths: ['/p'],
  reason_code: 'c',
  message: 'm',
  due_at: 'x',
  subscription_id: 's',
  target_url: 'https://receiver.example',
  event_types: ['grant.created'],
  disabled_reason: 'd',
  disabled_at: 'x',
  webhook_subscription: {
    subscription_id: 's',
    target_url: 'u',
    event_types: ['grant.created'],
    status: 'active',
    disabled_reason: 'd',
    disabled_at: 'x',
  },
  secret: 'whsec_x',
  delivery_id: 'd',
  event_id: 'e',
  event_type: 'grant.created',
  attempt_count: 1,
  attempts: [attempt],
  skipped_reason: 's',
  next_attempt_at: 'x',
  payload: { text: 'p' },
  type: 'grant.created',
  log_index: 1,
  path: '/p',
  value: 'v',
  since_version: 1,
  since: { effective_at: 'x' },
  changed_by: 'p',
  evidence: [ref],
  evidence_status: 'stale',
  principal_id: 'p',
  holders: [],
  credential: 'c',
  credential_id: 'c',
  invalid_reason: 'r',
  kid: 'k',
  replaced_at: 'x',
  retired_at: 'x',
  attestation_id: 'a',
  issuer: 'i',
  vct: 't',
  status_problem: 'p',
  vcts: ['t'],
  keys: [{}],
  roots: ['r'],
};

function answerWith(answer: object): void {
  service.answers = new Proxy({}, { get: () => ({ ...answer, next_cursor: null }) });
}

function poisoned(value: object): object {
  return JSON.parse(JSON.stringify(value), (_name, member: unknown) =>
    typeof member === 'string' ? `${member}${POISON}` : member,
  );
}

const run = (words: string) =>
  iss(words.replace(/[a-z]+\.json/, (name) => join(folder, name)).split(' '), {
    settings: settingsOf(
      { XDG_CONFIG_HOME: folder, ISS_TOKEN: 't', ISS_BASE_URL: service.url, ISS_TENANT: 'agency' },
      'linux',
    ),
    screen: { isColoured: true, isLive: true },
  });

const COMMANDS = [
  'whoami',
  'put envelope.json',
  'share harbour bank --scopes latest',
  'revoke g',
  'grants --all',
  'grants --held',
  'requests --status all',
  'requests ask harbour',
  'proposals --status proposed',
  'hooks',
  'hooks create https://receiver.example',
  'hooks change s --disable',
  'hooks rotate s',
  'deliveries s',
  'deliveries s d',
  'redeliver s d',
  'trigger s',
  'credential issue harbour@1',
  'credential list',
  'credential get c',
  'credential withdraw c',
  'credential key create',
  'credential key list',
  'credential key retire k',
  'attestations',
  'attestations add envelope.json',
  'attestations request t',
  'attestations wait r --seconds 0',
  'issuers',
  'issuers trust i --type t --keys keys.json',
  'changes --limit 1',
  'blame harbour',
  'log harbour',
  'get harbour',
];

/** Lines and control sequences that no command prints. */
function requireHarmless(text: string): void {
  expect(text).not.toMatch(/^FORGED/m);
  expect(text.replace(/\u001b\[\d+m/g, '')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u200b]/);
}

it.each(COMMANDS)('iss %s escapes control characters in the answer of a service', async (words) => {
  answerWith(poisoned({ ...item, items: [item], next_after: 1 }));
  const outcome = await run(words);
  requireHarmless(outcome.printed);
  requireHarmless(outcome.complaint);
  expect(`${outcome.printed}${outcome.complaint}`).toMatch(
    /\\u001b|^The answer is not one of this API|^Not verified \(written\)/,
  );
});

it.each(['whoami --json', 'grants --all --json', 'hooks --json'])(
  'iss %s prints equivalent JSON without control characters',
  async (words) => {
    answerWith(poisoned({ ...item, items: [item] }));
    const outcome = await run(words);
    expect(outcome.exitCode).toBe(0);
    requireHarmless(outcome.printed);
    expect(JSON.stringify(JSON.parse(outcome.printed))).toContain(JSON.stringify(POISON).slice(1, -1));
  },
);

it('iss grants escapes control characters in an error of the service', async () => {
  const refusal = new Refusal(403, 'forbidden', `No.${POISON}`);
  service.answers = new Proxy({}, { get: () => refusal });
  const outcome = await run('grants');
  expect(outcome.exitCode).toBe(1);
  requireHarmless(outcome.complaint);
});

/** Answers that the API never gives. In each of them, the members of `item` have another type. */
const replaced = (by: (member: unknown) => unknown): object => {
  const bent = (value: unknown): unknown => {
    if (Array.isArray(value)) return by(value.map(bent));
    if (typeof value !== 'object' || value === null) return by(value);
    return by(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, bent(member)])));
  };
  return { ...item, ...Object.fromEntries(Object.entries(item).map(([name, member]) => [name, bent(member)])) };
};
const BROKEN: [what: string, answer: unknown][] = [
  ['an empty object', {}],
  ['null', null],
  ['a list', []],
  ['a text', 'text'],
  ['null instead of a list', { items: null }],
  ['a text instead of a list', { items: 'text' }],
  ['a list of null', { items: [null], next_after: 1, has_more: false }],
  ['a list of an empty object', { items: [{}], next_after: 1, has_more: false }],
  ['objects instead of texts', replaced((member) => (typeof member === 'string' ? { toString: 1 } : member))],
  ['null instead of lists', replaced((member) => (Array.isArray(member) ? null : member))],
  ['all lists with null only', replaced((member) => (Array.isArray(member) ? [null] : member))],
  [
    'null instead of objects',
    replaced((member) => (typeof member === 'object' && !Array.isArray(member) ? null : member)),
  ],
  ['an unknown change', { items: [{ log_index: 1, type: 'moon.landed' }], next_after: 1, has_more: false }],
];

it.each(BROKEN)('all commands handle an invalid answer without a stack trace: %s', async (_what, answer) => {
  for (const value of [answer, { ...item, ...Object(answer), items: [answer] }]) {
    service.answers = new Proxy({}, { get: () => () => value });
    for (const words of COMMANDS) {
      const outcome = await run(words);
      expect([words, outcome.complaint]).not.toEqual([words, expect.stringMatching(/TypeError|\n {4}at /)]);
      expect([words, outcome.exitCode < 2]).toEqual([words, true]);
    }
  }
});
