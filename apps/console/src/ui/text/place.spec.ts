/** @jest-environment ./src/testing/environment.cjs */
import { wholeName } from './place.tsx';

it.each([
  ['/attributes/legal/legal_name', 'Legal / Legal name'],
  ['/attributes/owners/0/name', 'Owners 1 / Name'],
  ['/attributes/owners/-', 'Owners'],
  ['/evidence/-', 'Evidence'],
  ['/attributes', 'Attributes'],
  ['/attribute_paths/~1attributes~1legal~1legal_name', 'Legal / Evidence for Legal name'],
])('wholeName names %s', (pointer, name) => {
  expect(wholeName(pointer)).toBe(name);
});
