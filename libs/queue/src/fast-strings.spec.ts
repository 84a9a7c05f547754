import { setFlagsFromString } from 'node:v8';
import { makeStringsFast } from './fast-strings';

test('after a class that extends String the prototype of strings is fast again', () => {
  setFlagsFromString('--allow-natives-syntax');
  const isFast: () => unknown = new Function('return %HasFastProperties(String.prototype)') as () => unknown;
  class Extended extends String {}
  expect(new Extended('text').length).toBe(4);
  expect(isFast()).toBe(false);
  makeStringsFast();
  expect(isFast()).toBe(true);
});
