import { parseAddresses } from './addresses.ts';

const repository = (url: string) => ({ type: 'git', url });

it.each([
  [['--repository', 'https://git.example/iss'], null, 'git+https://git.example/iss.git', 'https://git.example/iss'],
  [[], 'https://git.example/iss.git', 'git+https://git.example/iss.git', 'https://git.example/iss'],
  [
    ['--homepage', 'https://iss.example'],
    'https://git.example/iss',
    'git+https://git.example/iss.git',
    'https://iss.example',
  ],
])('parseAddresses returns the repository and homepage of %j with the origin %s', (args, origin, url, homepage) => {
  expect(parseAddresses(args, origin)).toEqual({ repository: repository(url), homepage });
});

it.each([
  [[], null, '--repository'],
  [[], 'git@git.example:iss.git', '--repository'],
  [[], '/srv/iss', '--repository'],
  [['--repository', 'http://git.example/iss'], null, '--repository'],
  [[], 'https://user:secret@git.example/iss.git', '--repository'],
  [['--homepage', 'iss.example'], 'https://git.example/iss', '--homepage'],
])('parseAddresses refuses addresses that are not public https URLs: %j, origin %s', (args, origin, option) => {
  expect(() => parseAddresses(args, origin)).toThrow(option);
  expect(() => parseAddresses(args, origin)).not.toThrow('secret');
});
