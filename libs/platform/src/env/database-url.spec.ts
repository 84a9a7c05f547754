import { serverUrls } from './database-url';

it.each([
  ['postgres://u:p@db:5432/iss', ['postgres://u:p@db:5432/iss']],
  ['postgresql://db/iss', ['postgresql://db/iss']],
  ['postgres:///iss?host=/var/run/postgresql', ['postgres:///iss?host=/var/run/postgresql']],
  [
    'postgres://u:p%40@a:1,b:2,c/iss',
    ['postgres://u:p%40@a:1/iss', 'postgres://u:p%40@b:2/iss', 'postgres://u:p%40@c/iss'],
  ],
  [
    'postgres://u@a,b/iss?sslmode=verify-full&target_session_attrs=read-write',
    ['postgres://u@a/iss?sslmode=verify-full', 'postgres://u@b/iss?sslmode=verify-full'],
  ],
  ['postgres://u@[::1]:5432,b/iss', ['postgres://u@[::1]:5432/iss', 'postgres://u@b/iss']],
  ['postgres://u@a,b/iss?target_session_attrs=standby', []],
  ['postgres://u@a,,b/iss', []],
  ['postgres://u@a:x,b/iss', []],
  ['mysql://a/iss', []],
  ['a,b', []],
])('serverUrls(%j) returns %j', (text, expected) => {
  expect(serverUrls(text)).toEqual(expected);
});
