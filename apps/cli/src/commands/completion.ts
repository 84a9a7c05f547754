import { UsageError } from '../command';
import { type Completable, completionScript, type Shell, SHELLS } from '../completion';
import { defineCommand } from '../define';

export const completion = defineCommand({
  about: 'bash: source <(iss completion bash). zsh: source <(iss completion zsh). fish: iss completion fish | source.',
  arguments: { shell: { about: `${SHELLS.join(', ')}.`, choices: SHELLS, read: shellOf } },
  async run({ shell }, { print }) {
    const { COMMANDS } = await import('../commands.ts');
    const all = Object.entries(COMMANDS).map(async ([words, { summary, load }]): Promise<Completable> => {
      const { options, arguments: args = [] } = await load();
      return {
        words,
        summary,
        firstWords: args[0]?.choices ?? [],
        options: Object.entries(options).map(([name, { about, value, choices = [] }]) => ({
          name: `--${name}`,
          about,
          takesValue: value !== undefined,
          choices,
        })),
      };
    });
    print(completionScript(shell, await Promise.all(all)).trimEnd());
  },
});

function shellOf(text: string): Shell {
  const shell = SHELLS.find((one) => one === text);
  if (shell !== undefined) return shell;
  throw new UsageError(`SHELL must be one of ${SHELLS.join(', ')}.`);
}
