import { type Command, GROUPS, type OptionSpec } from '../../src/command';
import { COMMANDS } from '../../src/commands';
import { DATABASE_OPTION } from '../../src/doctor/log-keys';
import { LIST_OPTIONS } from '../../src/output';
import { labelOf, usageOf } from '../../src/program';
import { CALLER_OPTIONS, POLICY_OPTION } from '../../src/service/caller';

/** A line and what it printed, on either output. */
export interface Shown {
  /** The command whose section shows it; empty for none. */
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

/** Returns the page with a new generated part: the shared options, and a section for each command. */
export async function pageWith(page: string, shown: readonly Shown[]): Promise<string> {
  const [before = '', rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`docs/cli.md has no ${BEGIN} … ${END}.`);
  const sections = [Object.entries(SHARED_OPTIONS).map(optionText).join('\n')];
  for (const group of GROUPS) {
    sections.push(`## ${group}`);
    for (const [name, entry] of Object.entries(COMMANDS)) {
      if (entry.group === group) sections.push(sectionOf(name, entry.summary, await entry.load(), shown));
    }
  }
  return [before, BEGIN, '\n\n', sections.join('\n\n'), '\n\n', END, after].join('');
}

function optionText([name, { value, about }]: [string, OptionSpec]): string {
  return `- \`--${name}${value === undefined ? '' : ` ${value}`}\`: ${about}`;
}

function sectionOf(name: string, summary: string, command: Command, shown: readonly Shown[]): string {
  const own = shown.filter(({ of }) => of === name);
  const words = [
    ...(command.arguments ?? [])
      .filter(({ isShared }) => isShared !== true)
      .map((argument) => `- \`${labelOf(argument)}\`: ${argument.about}`),
    ...Object.entries(command.options)
      .filter(([, { isShared }]) => isShared !== true)
      .map(optionText),
  ];
  return [
    `### iss ${name}`,
    `\`${usageOf(name, command)}\``,
    [summary, ...(command.about === undefined ? [] : [command.about])].join(' '),
    ...(words.length === 0 ? [] : [words.join('\n')]),
    ...(own.length === 0
      ? []
      : [`\`\`\`console\n${own.map(({ line, output }) => `$ ${line}\n${output}`.trimEnd()).join('\n')}\n\`\`\``]),
  ].join('\n\n');
}
