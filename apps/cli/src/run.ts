import { DomainError } from '@iss/domain';
import { EnvError } from '@iss/platform';
import { TlogError } from '@iss/tlog';
import { parseArgs } from 'node:util';
import { type Command, type CommandContext, Failure, type Options, UsageError } from './command';
import { listLimits } from './commands/admin-limits-list';
import { setLimit } from './commands/admin-limits-set';
import { unsetLimit } from './commands/admin-limits-unset';
import { audit } from './commands/audit';
import { logKey } from './commands/log-key';
import { showLogKey } from './commands/log-key-show';
import { restartLog } from './commands/log-restart';
import { migrate } from './commands/migrate';
import { monitor } from './commands/monitor';
import { verify } from './commands/verify';
import { witness } from './commands/witness';

/** Every command, by its words: longer ones before those that they begin with. */
const COMMANDS: Readonly<Record<string, Command>> = {
  'admin limits list': listLimits,
  'admin limits set': setLimit,
  'admin limits unset': unsetLimit,
  audit,
  'log-key show': showLogKey,
  'log-key': logKey,
  'log-restart': restartLog,
  migrate,
  monitor,
  verify,
  witness,
};

/** Runs the command that the words name. Exit code: 0 done, 1 could not be done, 2 called wrongly; both with a sentence why. */
export async function runCommand(words: readonly string[], io: CommandContext): Promise<0 | 1 | 2> {
  try {
    if (words.length === 0 || words[0] === 'help' || words[0] === '--help') {
      io.print(help());
      return 0;
    }
    const { name, command } = find(words);
    const rest = words.slice(name.split(' ').length);
    if (rest.includes('--help')) io.print(`${usageOf(name, command)}\n${command.summary}`);
    else await command.run(parse(name, command, rest), io);
    return 0;
  } catch (error) {
    if (error instanceof UsageError || error instanceof EnvError || error instanceof TlogError) {
      io.complain(error.message);
      return 2;
    }
    if (error instanceof Failure || error instanceof DomainError) {
      io.complain(error.message);
      return 1;
    }
    throw error;
  }
}

function find(words: readonly string[]): { name: string; command: Command } {
  for (const [name, command] of Object.entries(COMMANDS)) {
    const own = name.split(' ');
    if (own.every((word, index) => words[index] === word)) return { name, command };
  }
  throw new UsageError(`There is no such command. There are:\n${help()}`);
}

function parse(name: string, command: Command, args: readonly string[]): Options {
  try {
    const { argument, options } = command;
    const allowPositionals = argument !== undefined;
    const { values, positionals } = parseArgs({ args: [...args], options, strict: true, allowPositionals });
    if (allowPositionals && positionals.length !== 1) throw new Error('One file is to be named.');
    const named = argument === undefined ? [] : [[argument, positionals[0]]];
    return Object.fromEntries([
      ...named,
      ...Object.entries(values).flatMap(([option, value]) => (Array.isArray(value) ? [] : [[option, value]])),
    ]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${why}\n${usageOf(name, command)}`);
  }
}

function usageOf(name: string, { usage }: Command): string {
  return `Usage: iss ${name} ${usage}`;
}

function help(): string {
  return Object.entries(COMMANDS)
    .map(([name, { usage, summary }]) => `iss ${name} ${usage}\n    ${summary}`)
    .join('\n');
}
