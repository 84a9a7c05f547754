import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as limits from '../src/limits.ts';

const page = readFileSync(join(__dirname, '../../../docs/client.md'), 'utf8');

test.each(Object.entries(limits))('docs/client.md names %s with its value', (name, value) => {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` `));
  expect(row?.split('|')[2]?.trim()).toBe(value.toLocaleString('en'));
});
