import { once } from 'node:events';
import { createServer } from 'node:http';
import { appUrl } from '../../../tools/app-login.ts';
import { generateKeys } from '@iss/tlog';
import { ORIGIN } from '../../../tools/testing/signed-log.ts';
import { testRedisUrl } from '../../../tools/testing/test-redis';
import { inhabit, RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';

let log: RealLog;
let redisUrl: string;
let successor: { signingKey: string; verifierKey: string };

beforeAll(async () => {
  [log, successor, redisUrl] = await Promise.all([RealLog.create(), generateKeys(ORIGIN, 'ed25519'), testRedisUrl()]);
  await inhabit(log);
});
afterAll(async () => {
  await log?.close();
});

const key = (...words: string[]) => iss(['log-key', ...words, '--database-url', log.url]);
const audited = async (...words: string[]) => {
  const { printed } = await iss(['audit', '--database-url', log.url, '--jobs', '1', '--json', ...words]);
  return JSON.parse(printed);
};
const refusal = (exitCode: number, complaint: RegExp) => ({
  exitCode,
  printed: '',
  complaint: expect.stringMatching(complaint),
});

it('log-key refuses keys that cannot sign the log, and ending its last key', async () => {
  const { verifierKey: other } = await generateKeys('log.example/other', 'ed25519');
  const { verifierKey: witness } = await generateKeys(ORIGIN, 'ed25519-cosignature');
  const { verifierKey: quantum } = await generateKeys(ORIGIN, 'ml-dsa-44-cosignature');
  expect(await key('add', other)).toEqual(refusal(1, /^The log is named log\.example\/test\./));
  expect(await key('add', witness)).toEqual(refusal(2, /^This is the key of a witness/));
  expect(await key('add', 'no key')).toEqual(refusal(2, /key/));
  expect(await key('end', log.vkey)).toEqual(refusal(1, /^This is the last Ed25519 key of the log/));
  expect(await key('add', quantum)).toMatchObject({ exitCode: 0 });
  expect(await key('end', log.vkey)).toEqual(refusal(1, /^This is the last Ed25519 key of the log/));
  expect(await key('end', quantum)).toMatchObject({ exitCode: 0 });
  expect(await key('end', quantum)).toEqual(refusal(1, /^The log has no such key/));
});

it('log-key add announces a key in the log once', async () => {
  const added = { exitCode: 0, complaint: '' };
  expect(await key('add', successor.verifierKey)).toEqual({
    ...added,
    printed: expect.stringMatching(/^The key is announced, /),
  });
  expect(await key('add', successor.verifierKey)).toEqual({ ...added, printed: 'The key was already announced.' });
  expect(await audited('--vkey', log.vkey)).toMatchObject({ clean: true, waiting: 2 });
  await log.publish();
  expect(await audited('--vkey', log.vkey)).toMatchObject({ clean: true, waiting: 0 });
});

it('the doctor names a signing key that is not announced', async () => {
  const database = async (signingKey: string): Promise<{ is: string; detail: string }[]> => {
    const variables = {
      DATABASE_URL: await appUrl(log.url, 'gateway', 'test'),
      QUEUE_URL: redisUrl,
      AUTH_MODE: 'disabled',
      LOG_SIGNING_KEY: signingKey,
    };
    const { printed } = await iss(['doctor', '--json'], { variables });
    const { checks } = JSON.parse(printed);
    return checks.find(({ what }: { what: string }) => what === 'database').findings;
  };
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  expect(await database(`${log.signingKey},${signingKey}`)).toContainEqual({
    is: 'failed',
    detail: expect.stringMatching(new RegExp(`Run iss log-key add ${verifierKey.replace(/[+/]/g, '\\$&')}$`)),
  });
  expect(await database(`${log.signingKey},${successor.signingKey}`)).toContainEqual({
    is: 'ok',
    detail: 'the signing keys of the log are announced',
  });
  expect(await database('no key')).toContainEqual({ is: 'failed', detail: expect.stringMatching(/is invalid/) });
});

it('the doctor reports an issuer without signing keys, and too few database connections', async () => {
  const documents: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    response.end(JSON.stringify(documents[request.url ?? ''] ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
    const origin = `http://127.0.0.1:${address.port}`;
    documents['/p/.well-known/openid-configuration'] = { issuer: `${origin}/p`, jwks_uri: `${origin}/keys` };
    const variables = {
      DATABASE_URL: await appUrl(log.url, 'gateway', 'test'),
      QUEUE_URL: redisUrl,
      OIDC_ISSUER: origin,
      OIDC_PROJECT_ID: 'p',
      MAX_GATEWAYS: '900',
      MAX_WORKERS: '1',
    };
    const found = async (): Promise<string[]> => {
      const { checks } = JSON.parse((await iss(['doctor', '--json'], { variables })).printed);
      return checks.flatMap(({ findings }: { findings: { is: string; detail: string }[] }) =>
        findings.map(({ is, detail }) => `${is} ${detail}`),
      );
    };
    expect(await found()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^failed .*\/keys has no signing key/),
        expect.stringMatching(
          /^failed gateways: 900, workers: 1; a rolling update needs .* connections, but the server allows/,
        ),
        'ok the change feeds are up to date with the log',
      ]),
    );
    documents['/keys'] = {
      keys: [
        { kty: 'RSA', use: 'enc' },
        { kty: 'RSA', use: 'sig' },
      ],
    };
    expect(await found()).toContainEqual(expect.stringMatching(/^ok .*\/keys has signing keys: 1$/));
  } finally {
    server.close();
  }
});

it('an audit detects announcements that a superuser changed, removed or added', async () => {
  await log.keep();
  for (const [attack, found] of [
    [`UPDATE log_key_announcements SET announced_by = 'nobody' WHERE vkey = '${successor.verifierKey}'`, ['leaf']],
    [`DELETE FROM log_key_announcements WHERE vkey = '${successor.verifierKey}'`, ['fact_missing']],
    [`INSERT INTO log_key_announcements (vkey) VALUES ('${ORIGIN}+00000000+AQ==')`, ['not_logged']],
    [`INSERT INTO log_key_announcements (vkey, is_first) VALUES ('${successor.verifierKey}x', true)`, ['log_key']],
    [`INSERT INTO log_keys (vkey) VALUES ('${successor.verifierKey}')`, []],
    [`UPDATE log_key_announcements SET ended_at = now(), ended_by = 'x' WHERE vkey = '${log.vkey}'`, ['log_key']],
  ] as const) {
    await log.tamper(attack);
    const { findings } = await audited('--vkey', log.vkey);
    expect({ attack, found: findings.map(({ check }: { check: string }) => check) }).toEqual({ attack, found });
    await log.restore();
  }
});

it('the database refuses further keys from applications, and any change of an announcement', async () => {
  for (const text of [
    `INSERT INTO log_key_announcements (vkey) VALUES ('${ORIGIN}+00000000+AQ==')`,
    `UPDATE log_key_announcements SET ended_at = now(), ended_by = 'x'`,
  ]) {
    await expect(log.query(`SET ROLE iss_app; ${text}`)).rejects.toThrow(/permission denied/);
    await log.query('RESET ROLE');
  }
  const first = `announce_first_log_keys(ARRAY['${ORIGIN}+00000000+AQ=='])`;
  await log.query('SET ROLE iss_app');
  expect(await log.query(`SELECT ${first} AS done`)).toEqual([{ done: false }]);
  await log.query('RESET ROLE');
  await expect(log.query(`UPDATE log_key_announcements SET announced_by = 'x'`)).rejects.toThrow(/is refused/);
  await expect(log.query('DELETE FROM log_key_announcements')).rejects.toThrow(/is refused/);
});

it('log-key mark withdraws checkpoints, and the audit lists them', async () => {
  const before = await log.checkpoint();
  await log.addLineage('marked-corp', 1);
  await log.publish();
  const size = Number((await log.checkpoint()).split('\n')[1]);
  expect(await key('mark')).toEqual(refusal(2, /^Name a SIZE/));
  expect(await key('mark', '5', '--from', '1')).toEqual(refusal(2, /^Name a SIZE/));
  expect(await key('mark', String(size), '--vkey', successor.verifierKey)).toEqual(
    refusal(1, /^No unmarked checkpoint/),
  );
  expect(await key('mark', '--from', String(size), '--to', String(size + 9), '--vkey', log.vkey)).toEqual({
    exitCode: 0,
    complaint: '',
    printed: '1 checkpoint is marked as signed by mistake.',
  });
  expect(await key('mark', String(size))).toEqual(refusal(1, /^No unmarked checkpoint/));
  expect(await log.checkpoint()).toBe(before);
  expect(await log.query(`SELECT size::int FROM log_checkpoints WHERE marked_at IS NOT NULL`)).toEqual([{ size }]);
  const { clean, notices } = await audited('--vkey', log.vkey);
  expect({ clean, notices }).toEqual({
    clean: true,
    notices: [
      {
        where: expect.stringMatching(new RegExp(`^checkpoint \\d+, of ${size} entries$`)),
        what: expect.stringMatching(/^\w+ marked it as signed by mistake, \d{4}-/),
      },
    ],
  });
  await log.publish();
  expect(Number((await log.checkpoint()).split('\n')[1])).toBe(size);
});
