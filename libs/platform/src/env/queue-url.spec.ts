import { isPlainQueueUrl, readQueueUrl, type RedisAddress } from './queue-url';

const SERVER: RedisAddress = {
  kind: 'server',
  hosts: [{ host: 'redis', port: 6379 }],
  username: undefined,
  password: undefined,
  database: 0,
  family: 0,
  primary: '',
  sentinelUsername: undefined,
  sentinelPassword: undefined,
  tls: undefined,
};
const TLS = { authorityFile: undefined, certificateFile: undefined, keyFile: undefined };

it.each<[string, Partial<RedisAddress>]>([
  ['redis://redis', {}],
  ['redis://redis:6379/0', {}],
  ['redis://redis/?family=6', { family: 6 }],
  ['redis://user:p%40ss@redis/15', { username: 'user', password: 'p@ss', database: 15 }],
  ['redis://:p@ss@redis', { password: 'p@ss' }],
  ['redis://user@redis', { username: 'user' }],
  ['redis://[::1]:7000', { hosts: [{ host: '::1', port: 7000 }] }],
  ['rediss://redis', { tls: TLS }],
  ['rediss://redis?cacert=/etc/ca.crt', { tls: { ...TLS, authorityFile: '/etc/ca.crt' } }],
  [
    'rediss://redis?cacert=ca&cert=own&key=secret',
    { tls: { authorityFile: 'ca', certificateFile: 'own', keyFile: 'secret' } },
  ],
  [
    'redis+sentinel://:p@one,two:5000,[::1]/3?master=iss&sentinel_username=u&sentinel_password=s%26t',
    {
      kind: 'sentinel',
      hosts: [
        { host: 'one', port: 26_379 },
        { host: 'two', port: 5000 },
        { host: '::1', port: 26_379 },
      ],
      password: 'p',
      database: 3,
      primary: 'iss',
      sentinelUsername: 'u',
      sentinelPassword: 's&t',
    },
  ],
  [
    'rediss+sentinel://redis?master=iss',
    { kind: 'sentinel', hosts: [{ host: 'redis', port: 26_379 }], primary: 'iss', tls: TLS },
  ],
  [
    'redis+cluster://a:1,b:2/0',
    {
      kind: 'cluster',
      hosts: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    },
  ],
  ['rediss+cluster://redis', { kind: 'cluster', tls: TLS }],
])('parses %s', (text, expected) => {
  expect(readQueueUrl(text)).toEqual({ ...SERVER, ...expected });
});

it.each([
  ['localhost:6379', /URL starting with/],
  ['http://redis', /URL starting with/],
  ['redis+sentinels://redis?master=iss', /URL starting with/],
  ['redis://', /host or host:port/],
  ['redis://:secret@', /host or host:port/],
  ['redis://redis:99999', /host or host:port/],
  ['redis+cluster://a,,b', /host or host:port/],
  ['redis+cluster://a, b', /host or host:port/],
  ['redis://a,b', /redis\+sentinel/],
  ['redis://%zz:secret@redis', /percent-encoded/],
  ['redis://redis/secret', /number of a database/],
  ['redis://redis/70000', /number of a database/],
  ['redis+cluster://redis/1', /no database but 0/],
  ['redis+sentinel://redis', /\?master=NAME/],
  ['redis+sentinel://redis?master=', /\?master=NAME/],
  ['redis://redis?master=iss', /no parameters but family,/],
  ['redis://redis?cacert=ca', /no parameters but family,/],
  ['redis://redis?family=4&family=6', /each once/],
  ['redis://redis?family=5', /0, 4 or 6/],
  ['redis://:sec?ret@redis', /host or host:port/],
  ['rediss://redis?cert=own', /cert and key/],
])('refuses %s with a reason that contains no secrets', (text, expected) => {
  const fault = readQueueUrl(text);
  expect(fault).toEqual(expect.stringMatching(expected));
  expect(fault).not.toContain('sec');
});

it.each([
  ['redis://redis', true],
  ['redis://127.0.0.1:6379', false],
  ['redis://[::1]', false],
  ['rediss://redis', false],
  ['redis+sentinel://localhost,redis?master=iss', true],
  ['redis+cluster://localhost:1,localhost:2', false],
  ['rediss+cluster://redis', false],
])('isPlainQueueUrl(%j) returns %s', (text, expected) => {
  expect(isPlainQueueUrl(text)).toBe(expected);
});
