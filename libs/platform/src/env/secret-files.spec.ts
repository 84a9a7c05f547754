import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EnvError, gatewayEnv, operatorEnv } from './env';
import { SECRET_VARIABLES, withSecretFiles } from './secret-files';

const URL_TEXT = 'postgres://iss:dbpass@localhost/iss';
const KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'iss-secrets-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function linesOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof EnvError) return error.lines;
    throw error;
  }
}

it.each(SECRET_VARIABLES)('reads %s from a file', (name) => {
  const { env, faults } = withSecretFiles({ [`${name}_FILE`]: file(name, `secret of ${name}\n`), OTHER: 'x' });
  expect(env).toEqual({ [name]: `secret of ${name}`, OTHER: 'x' });
  expect(faults.size).toBe(0);
});

it.each([
  ['text', 'text'],
  ['text\n', 'text'],
  ['text\r\n', 'text'],
  ['text\n\n', 'text\n'],
  [' text ', ' text '],
])('removes only one newline from the end of %j', (content, value) => {
  expect(withSecretFiles({ SECRETS_KEYS_FILE: file('one', content) }).env).toEqual({ SECRETS_KEYS: value });
});

it('gatewayEnv reads secrets from files', () => {
  const env = gatewayEnv({
    AUTH_MODE: 'disabled',
    DATABASE_URL: '',
    DATABASE_URL_FILE: file('url', `${URL_TEXT}\n`),
    SECRETS_KEYS_FILE: file('keys', KEYS),
    QUEUE_URL_FILE: '',
  });
  expect(env).toMatchObject({ databaseUrl: URL_TEXT, queueUrl: undefined, secretBox: { currentKeyId: 'k1' } });
});

it('operatorEnv does not read files that it does not need', () => {
  const env = { DATABASE_URL_FILE: file('owner', URL_TEXT), SECRETS_KEYS_FILE: join(folder, 'not-mounted') };
  expect(operatorEnv(env).databaseUrl).toBe(URL_TEXT);
});

it('gatewayEnv reports unusable files together with all other faults', () => {
  const lines = linesOf(() =>
    gatewayEnv({
      AUTH_MODE: 'disabled',
      PORT: 'eighty',
      DATABASE_URL: URL_TEXT,
      DATABASE_URL_FILE: file('twice', URL_TEXT),
      QUEUE_URL_FILE: join(folder, 'missing'),
      SECRETS_KEYS_FILE: file('empty', '\n'),
      SNAPSHOT_ID_SECRET_FILE: folder,
    }),
  );
  expect([...lines].sort()).toEqual([
    'DATABASE_URL_FILE must not be set beside DATABASE_URL: keep one of the two',
    'PORT must be a whole number from 0 to 65535',
    `QUEUE_URL_FILE names a file that cannot be read: ${join(folder, 'missing')} (ENOENT)`,
    `SECRETS_KEYS_FILE names an empty file: ${join(folder, 'empty')}`,
    `SNAPSHOT_ID_SECRET_FILE names a file that cannot be read: ${folder} (EISDIR)`,
  ]);
});

it('operatorEnv validates the content of a file without showing it', () => {
  const lines = linesOf(() => operatorEnv({ DATABASE_URL_FILE: file('wrong', 'mysql://iss:dbpass@localhost/iss') }));
  expect(lines).toEqual(['DATABASE_URL must be a URL starting with postgres:// or postgresql://']);
});
