import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '..');
const WORDS = globSync('{shell,entities,features/**}/words.ts', { cwd: FOLDER })
  .map((file) => readFileSync(join(FOLDER, file), 'utf8'))
  .join('\n');

it.each([
  ['Mend it', 'Add evidence'],
  ['Take this proof away', 'Download proof'],
  ['Of whom', 'Ownership'],
  ['By its grants this tenant reads', 'You can read'],
  ['State of', 'Effective'],
  ['Carried over', 'Outdated evidence'],
  ['Wanted by', 'Requested by'],
  ['Make them anew', 'Rebase onto version'],
  ['we ourselves', 'You'],
  ['wants to deceive you', 'use independent ones'],
  ['I have kept it', 'I’ve saved it'],
])('no words.ts contains "%s", and one contains "%s"', (before, now) => {
  expect(WORDS).not.toContain(before);
  expect(WORDS).toContain(now);
});
