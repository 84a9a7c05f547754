import { type Command, GROUPS, type OptionSpec } from '../../src/command';
import { COMMANDS } from '../../src/commands';
import { DATABASE_OPTION } from '../../src/doctor/log-keys';
import { LIST_OPTIONS } from '../../src/output';
import { usageOf } from '../../src/program';
import { CALLER_OPTIONS, POLICY_OPTION } from '../../src/service/caller';

/** A line and its output on standard output and standard error. */
export interface Shown {
  /** The command whose section shows the line; empty if none does. */
  of: string;
  line: string;
  output: string;
}

const SHARED_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  ...CALLER_OPTIONS,
  ...LIST_OPTIONS,
  ...POLICY_OPTION,
  ...DATABASE_OPTION,
};

const BEGIN = '<!-- Generated, by: npm run generate -- cli -->';
const END = '<!-- The end of what is generated -->';

/** Returns the page with a new generated part: the shared options, and each command once, by group. */
export async function pageWith(page: string, shown: readonly Shown[]): Promise<string> {
  const [before = '', rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`docs/cli.md has no ${BEGIN} … ${END}.`);
  const sections = [Object.entries(SHARED_OPTIONS).map(optionText).join('\n')];
  for (const group of GROUPS) {
    const entries = Object.entries(COMMANDS).filter(([, entry]) => entry.group === group);
    const texts = entries.map(async ([name, entry]) => entryOf(name, entry.summary, await entry.load(), shown));
    sections.push(`## ${group}`, (await Promise.all(texts)).join('\n').trimEnd());
  }
  return [before, BEGIN, '\n\n', sections.join('\n\n'), '\n\n', END, after].join('');
}

function optionText([name, { value, about }]: [string, OptionSpec]): string {
  return `- \`--${name}${value === undefined ? '' : ` ${value}`}\`: ${about}`;
}

/** Returns the usage line of a command without optional options, its summary, and its examples. `--help` has the rest. */
function entryOf(name: string, summary: string, command: Command, shown: readonly Shown[]): string {
  const own = shown.filter(({ of }) => of === name);
  const entry = `- \`${requiredOf(usageOf(name, command))}\`: ${summary}`;
  if (own.length === 0) return entry;
  const lines = own.map(({ line, output }) => `$ ${line}\n${output}`.trimEnd()).join('\n');
  return `${entry}\n\n${`\`\`\`console\n${lines}\n\`\`\``.replace(/^(?=.)/gm, '  ')}\n`;
}

/** Removes options in brackets from a usage line, from the innermost brackets outwards. */
function requiredOf(usage: string): string {
  const shorter = usage.replace(/ \[--[^[\]]*\]…?/g, '');
  return shorter === usage ? usage : requiredOf(shorter);
}
