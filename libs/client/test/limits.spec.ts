import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLOCK_SKEW_MS, MAX_LOG_DELAY_MS } from '@iss/proof';
import * as limits from '../src/limits.ts';

const page = readFileSync(join(__dirname, '../../../docs/client.md'), 'utf8');

test.each(Object.entries({ ...limits, CLOCK_SKEW_MS, MAX_LOG_DELAY_MS }))(
  'docs/client.md names %s with its value',
  (name, value) => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` `));
    expect(row?.split('|')[2]?.trim()).toBe(value.toLocaleString('en'));
  },
);
