import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as limits from './limits';

const page = readFileSync(join(__dirname, '../../../docs/limits.md'), 'utf8');
const { DEFAULT_PATCH_LIMITS, ...others } = limits;
const { maxDepth, ...ofPatches } = DEFAULT_PATCH_LIMITS;

test.each(Object.entries({ ...others, ...ofPatches }))('docs/limits.md names %s with its value', (name, value) => {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` `));
  expect(row?.split('|')[2]?.trim()).toBe(value.toLocaleString('en'));
});

test('a patch and a body have the same depth limit', () => expect(maxDepth).toBe(limits.DEFAULT_MAX_DEPTH));
