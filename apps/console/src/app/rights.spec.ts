/** @jest-environment ./src/testing/environment.cjs */
import '../testing/dom.ts';
import { isCaller } from './rights.ts';

it.each([
  ['oidc:p#bob', 'bob', true],
  ['oidc:p#jacob', 'cob', false],
  ['oidc:p#bob', '', false],
])('isCaller(%s, "%s") is %s', (principalId, sub, expected) => {
  expect(isCaller(principalId, sub)).toBe(expected);
});
