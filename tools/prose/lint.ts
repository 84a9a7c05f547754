import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toString } from 'nlcst-to-string';
import retextEnglish from 'retext-english';
import { unified } from 'unified';
import { repositoryRoot } from '../root.ts';
import { type Block, readBlocks } from './blocks.ts';
import { findBrokenRule } from './rules.ts';

/**
 * `npm run tool -- prose/lint`: refuses sentences of documents, API texts, comments, console words and titles of tests that break a
 * rule of `rules.ts`.
 * Arguments are paths; without any it reads everything. A paragraph that contains `prose-ignore:` and a reason of three words is skipped.
 */
const PROSE = /\.md$|^openapi\.json$|^(apps|libs|tools)\/.*\.[mc]?[jt]sx?$/;
const OTHERS = /generated|^tools\/prose\/.*spec\./;
const IGNORED = /prose-ignore: \S+ \S+ \S/;

const english = unified().use(retextEnglish);
const paths = process.argv.slice(2);
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths], {
  cwd: repositoryRoot,
  encoding: 'utf8',
  maxBuffer: 64_000_000,
});
const files = listed
  .split('\n')
  .filter((file) => PROSE.test(file) && !OTHERS.test(file) && existsSync(join(repositoryRoot, file)));
const faults = files.flatMap((file) =>
  readBlocks(file, readFileSync(join(repositoryRoot, file), 'utf8')).flatMap((block) => findFaults(file, block)),
);
for (const fault of faults) console.log(fault);
console.log(`${faults.length} sentences in ${files.length} files break a rule.`);
if (faults.length > 0) process.exitCode = 1;

/** Returns for each sentence that breaks a rule: its place, the rule, how to fix it, and the sentence. */
function findFaults(file: string, { line, text }: Block): string[] {
  if (IGNORED.test(text)) return [];
  const paragraphs = english.parse(text).children.filter((node) => node.type === 'ParagraphNode');
  return paragraphs
    .flatMap(({ children }) => children)
    .flatMap((node) => {
      const sentence = toString(node).replace(/\s+/g, ' ').trim();
      const rule = findBrokenRule(sentence);
      if (rule === undefined) return [];
      return [`${file}:${line + (node.position?.start.line ?? 1) - 1} ${rule.name}: ${rule.fix}\n  ${sentence}`];
    });
}
