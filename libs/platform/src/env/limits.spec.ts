import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CAPS, type CapName, DEFAULT_CAPS, limitReached, OVERRIDABLE, RATES } from './limits';

const cellsOf = (page: string, name: string): string[] =>
  (page.split('\n').find((line) => line.startsWith(`| \`${name}\` `)) ?? '').split('|').map((cell) => cell.trim());

const page = readFileSync(join(__dirname, '../../../../docs/limits.md'), 'utf8');
const limits = Object.entries({ ...CAPS, ...RATES });

test.each(limits)('docs/limits.md documents %s', (name, { variable, default: value, scope, counts }) => {
  expect(cellsOf(page, name).slice(1, 6)).toEqual([
    `\`${name}\``,
    value.toLocaleString('en'),
    `\`${variable}\``,
    scope,
    counts,
  ]);
});

test.each(Object.entries(CAPS))('docs/limits.md states the remedy of %s', (name, { remedy }) => {
  expect(cellsOf(page, name)[6]?.toLowerCase()).toBe(remedy.toLowerCase());
});

test('docs/limits.md names no unknown limit', () => {
  const named = [...page.matchAll(/^\| `([a-z_]+)` /gm)].map(([, name]) => name);
  expect(named).toEqual(limits.map(([name]) => name));
});

test('DEFAULT_CAPS contains the default of each cap', () => {
  expect(DEFAULT_CAPS).toEqual(Object.fromEntries(Object.entries(CAPS).map(([name, cap]) => [name, cap.default])));
});

test('limitReached names the limit, its value and the remedy', () => {
  const names = Object.keys(OVERRIDABLE).filter((name): name is CapName => Object.hasOwn(CAPS, name));
  for (const name of names) {
    const { code, message } = limitReached(name, 1234);
    expect(code).toBe('limit_reached');
    expect(message).toContain(`The limit ${name} is reached: 1,234 ${CAPS[name].counts}. ${CAPS[name].remedy}`);
    expect(message).toContain(`or ask the operator of this service to raise it for the ${CAPS[name].scope}.`);
  }
});
