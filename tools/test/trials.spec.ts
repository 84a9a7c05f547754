import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { repositoryRoot } from '../root.ts';
import { verdictsIn } from '../trials/frame/verdict.ts';
import { TRIALS } from '../trials/trials.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const names = Object.keys(TRIALS);

it.each(names)('the trial %s has a file and a row in docs/trials.md', (name) => {
  expect(existsSync(join(repositoryRoot, `tools/trials/${name}.ts`))).toBe(true);
  expect(read('docs/trials.md')).toContain(`| \`${name}\` `);
});

it('TRIALS lists every file of a trial', () => {
  const others = ['all', 'trials'];
  const files = globSync('tools/trials/*.ts', { cwd: repositoryRoot }).map((file) => basename(file, '.ts'));
  expect(files.filter((name) => !others.includes(name)).sort()).toEqual([...names].sort());
});

it('verdictsIn returns the verdicts in the output of a trial', () => {
  const output = 'Building …\nholds    all of it\nholdsnot\nBROKEN   one\nskipped  as root only\n';
  expect(verdictsIn(output)).toEqual([
    { word: 'holds', text: 'all of it' },
    { word: 'BROKEN', text: 'one' },
    { word: 'skipped', text: 'as root only' },
  ]);
});
