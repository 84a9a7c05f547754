import { type Command, type CommandEntry, UsageError } from '../command';
import { defineCommand } from '../define';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Returns the command that completes these commands. */
export const completionOf = (commands: Readonly<Record<string, CommandEntry>>): Command =>
  defineCommand({
    about:
      'bash: source <(iss completion bash). zsh: source <(iss completion zsh). fish: iss completion fish | source.',
    arguments: { shell: { about: `${SHELLS.join(', ')}.`, choices: SHELLS, read: shellOf } },
    async run({ shell }, { print }) {
      const all = Object.entries(commands).map(async ([words, { summary, load }]): Promise<Completable> => {
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

/** A command, as shell completion sees it. */
interface Completable {
  /** `admin limits list` */
  words: string;
  summary: string;
  /** The allowed values of the first argument. */
  firstWords: readonly string[];
  /** Names start with dashes. `choices` is empty if any value is allowed. */
  options: readonly { name: string; about: string; takesValue: boolean; choices: readonly string[] }[];
}

/** Returns a completion script. Other arguments and values are completed as file names. */
function completionScript(shell: Shell, commands: readonly Completable[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return zshScript(commands);
    case 'fish':
      return fishScript(commands);
  }
}

/** Maps words to the words that can follow them, such as `admin` to `limits`. */
function nextWords(commands: readonly Completable[]): Map<string, string[]> {
  const next = new Map<string, string[]>();
  for (const { words, firstWords } of commands) {
    if (firstWords.length > 0) next.set(words, [...(next.get(words) ?? []), ...firstWords]);
    const all = words.split(' ');
    all.forEach((word, index) => {
      const before = all.slice(0, index).join(' ');
      const known = next.get(before) ?? [];
      if (!known.includes(word)) next.set(before, [...known, word]);
    });
  }
  return next;
}

/** Returns the branches of `case` that offer the values of an option, and the options of a command. */
function branchesOf(commands: readonly Completable[], offer: (words: readonly string[]) => string) {
  const branch = (name: string, words: readonly string[]): string => `      ${quoted(name)}) ${offer(words)} ;;`;
  const withValues = commands.flatMap(({ words, options }) => options.map((option) => ({ words, ...option })));
  return {
    values: withValues
      .filter(({ choices }) => choices.length > 0)
      .map(({ words, name, choices }) => branch(`${words} ${name}`, choices)),
    options: commands.map(({ words, options }) => branch(words, ['--help', ...options.map(({ name }) => name)])),
  };
}

/** Returns the loop that tries the branches with the whole command, then without its last words. */
function loopOf(condition: string, subject: string, branches: readonly string[]): string {
  return `    while [[ ${condition} ]]; do
      case "${subject}" in
${branches.join('\n')}
      esac
      [[ "$before" == *" "* ]] && before="\${before% *}" || before=""
    done`;
}

function bashScript(commands: readonly Completable[]): string {
  const offer = (words: readonly string[]): string => `words="${words.join(' ')}"`;
  const { values, options } = branchesOf(commands, offer);
  const followers = [...nextWords(commands)].map(([before, words]) => `    ${quoted(before)}) ${offer(words)} ;;`);
  const isOpen = '-n "$before" && -z "$words"';
  return `# bash completion of iss: source <(iss completion bash)
_iss() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ "\${COMP_WORDS[i]}" == -* ]] && break
    before="\${before:+$before }\${COMP_WORDS[i]}"
  done
  if [[ "\${COMP_WORDS[COMP_CWORD-1]}" == --* ]]; then
${loopOf(isOpen, '$before ${COMP_WORDS[COMP_CWORD-1]}', values)}
  elif [[ "$current" == -* ]]; then
${loopOf(isOpen, '$before', options)}
  else
    case "$before" in
${followers.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _iss iss
`;
}

function zshScript(commands: readonly Completable[]): string {
  const { values, options } = branchesOf(commands, (words) => `compadd -- ${words.join(' ')}; return`);
  const followers = [...nextWords(commands)].map(
    ([before, words]) =>
      `    ${quoted(before)}) _describe command '(${words.map((word) => described(word, before, commands)).join(' ')})' && return ;;`,
  );
  return `#compdef iss
# zsh completion of iss: source <(iss completion zsh)
_iss() {
  local before="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] && break
    before="\${before:+$before }$word"
  done
  if [[ "\${words[CURRENT-1]}" == --* ]]; then
${loopOf('-n "$before"', '$before ${words[CURRENT-1]}', values)}
  elif [[ "\${words[CURRENT]}" == -* ]]; then
${loopOf('-n "$before"', '$before', options)}
  else
    case "$before" in
${followers.join('\n')}
    esac
  fi
  _files
}
compdef _iss iss
`;
}

function fishScript(commands: readonly Completable[]): string {
  const followers = [...nextWords(commands)].flatMap(([before, words]) =>
    words.map((word) => {
      const about = summaryOf(before === '' ? word : `${before} ${word}`, commands);
      return `complete -c iss -n '__iss_after ${before}' -f -a ${word}${about === '' ? '' : ` -d ${quoted(about)}`}`;
    }),
  );
  const options = commands.flatMap(({ words, options: own }) =>
    own.map(
      ({ name, about, takesValue, choices }) =>
        `complete -c iss -n '__iss_within ${words}' -l ${name.slice(2)}${takesValue ? ' -r' : ''}${choices.length === 0 ? '' : ` -f -a ${quoted(choices.join(' '))}`} -d ${quoted(about)}`,
    ),
  );
  return `# fish completion of iss: iss completion fish | source
function __iss_words
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and break
    echo $word
  end
end
function __iss_after
  set -l words (__iss_words)
  test "$words" = "$argv"
end
function __iss_within
  set -l words (__iss_words)
  string match -q -- "$argv *" "$words "
end
${[...followers, ...options].join('\n')}
`;
}

function described(word: string, before: string, commands: readonly Completable[]): string {
  const about = summaryOf(before === '' ? word : `${before} ${word}`, commands);
  const text = about === '' ? word : `${word}:${about}`;
  return `"${text.replace(/["\\$`']/g, '')}"`;
}

function summaryOf(words: string, commands: readonly Completable[]): string {
  return commands.find((command) => command.words === words)?.summary ?? '';
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
