import { setFlagsFromString } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { makeStringsFast } from './fast-strings';

test('makeStringsFast makes String.prototype fast again after a class extends String', () => {
  setFlagsFromString('--allow-natives-syntax');
  // Another suite may have extended String in this process, and only the first class makes the prototype slow.
  const realm = createContext();
  const isFast = (): unknown => runInContext('%HasFastProperties(String.prototype)', realm);
  expect(runInContext('new (class extends String {})("text").length', realm)).toBe(4);
  expect(isFast()).toBe(false);
  runInContext(`(${String(makeStringsFast)})()`, realm);
  expect(isFast()).toBe(true);
});
