import { type Command, GROUPS, type OptionSpec } from '../../src/command';
import { COMMANDS } from '../../src/commands';
import { JSON_OPTION } from '../../src/output';
import { usageOf } from '../../src/program';
import { CALLER_OPTIONS } from '../../src/service/caller';

/** What a line printed, on either output. */
export interface Shown {
  of: string;
  line: string;
  output: string;
}

/** Said once, and not of each command. */
const COMMON_OPTIONS: Readonly<Record<string, OptionSpec>> = { ...CALLER_OPTIONS, ...JSON_OPTION };

const BEGIN = '<!-- Generated, by: npm run generate -- cli -->';
const END = '<!-- The end of what is generated -->';

/**
 * The page with its generated part anew: a list of all commands, and a section for each that the page has none of. The rest is
 * written by hand.
 */
export async function pageWith(page: string, shown: readonly Shown[]): Promise<string> {
  const [before = '', rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`docs/cli.md has no ${BEGIN} … ${END}.`);
  const byHand = new Set([...(before + after).matchAll(/^## iss (.+)$/gm)].map(([, name = '']) => name));
  const sections: string[] = [];
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    if (!isWithin(name, byHand)) sections.push(sectionOf(name, await load(), shown));
  }
  return [
    before,
    BEGIN,
    '\n\n',
    [listed(byHand), commonOptions()].join('\n\n'),
    '\n\n',
    sections.join('\n\n'),
    '\n\n',
    END,
    after,
  ].join('');
}

/** `log-key show` stands under `log-key`. */
function isWithin(name: string, byHand: ReadonlySet<string>): boolean {
  return [...byHand].some((own) => name === own || name.startsWith(`${own} `));
}

/** Those that are not said once for all. */
function ownOptions({ options }: Command): [string, OptionSpec][] {
  const common: readonly OptionSpec[] = Object.values(COMMON_OPTIONS);
  return Object.entries(options).filter(([, spec]) => !common.includes(spec));
}

function commonOptions(): string {
  const lines = Object.entries(COMMON_OPTIONS).map(([name, spec]) => optionText(name, spec));
  return `Options of many commands:\n\n${lines.join('\n')}`;
}

function optionText(name: string, { value, about }: OptionSpec): string {
  return `- \`--${name}${value === undefined ? '' : ` ${value}`}\`: ${about}`;
}

function listed(byHand: ReadonlySet<string>): string {
  return GROUPS.map((group) => {
    const lines = Object.entries(COMMANDS)
      .filter(([, entry]) => entry.group === group)
      .map(([name, { summary }]) => `- [\`iss ${name}\`](#iss-${anchorOf(name, byHand)}): ${summary}`);
    return lines.length === 0 ? [] : [`**${group}**\n\n${lines.join('\n')}`];
  })
    .flat()
    .join('\n\n');
}

function anchorOf(name: string, byHand: ReadonlySet<string>): string {
  return (byHand.has(name) ? name : ([...byHand].find((own) => name.startsWith(`${own} `)) ?? name)).replaceAll(
    ' ',
    '-',
  );
}

function sectionOf(name: string, command: Command, shown: readonly Shown[]): string {
  const { summary } = COMMANDS[name] ?? { summary: '' };
  const own = shown.filter(({ of }) => of === name);
  const words = [
    ...(command.arguments ?? []).map(({ name: argument, about }) => `- \`${argument.toUpperCase()}\`: ${about}`),
    ...ownOptions(command).map(([option, spec]) => optionText(option, spec)),
  ];
  return [
    `## iss ${name}`,
    `\`${usageOf(name, command)}\``,
    [summary, ...(command.about === undefined ? [] : [command.about])].join(' '),
    ...(words.length === 0 ? [] : [words.join('\n')]),
    ...(own.length === 0
      ? []
      : [`\`\`\`console\n${own.map(({ line, output }) => `$ ${line}\n${output}`.trimEnd()).join('\n')}\n\`\`\``]),
  ].join('\n\n');
}
