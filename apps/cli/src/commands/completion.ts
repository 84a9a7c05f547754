import { type Command, type CommandEntry, textOf, UsageError } from '../command';
import { type Completable, completionScript, SHELLS } from '../completion';

export const completionOf = (commands: Readonly<Record<string, CommandEntry>>): Command => ({
  about: 'bash: source <(iss completion bash). zsh: source <(iss completion zsh). fish: iss completion fish | source.',
  arguments: [{ name: 'shell', about: `${SHELLS.join(', ')}.`, choices: SHELLS }],
  options: {},
  async run(options, { print }) {
    const shell = SHELLS.find((one) => one === textOf(options, 'shell'));
    if (shell === undefined) throw new UsageError(`SHELL must be one of ${SHELLS.join(', ')}.`);
    const all = Object.entries(commands).map(async ([words, { summary, load }]): Promise<Completable> => {
      const { options: own, arguments: names = [] } = await load();
      return {
        words,
        summary,
        firstWords: names[0]?.choices ?? [],
        options: Object.entries(own).map(([name, { about, value, choices = [] }]) => ({
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
