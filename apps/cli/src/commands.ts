import type { CommandEntry } from './command';
import { OPERATORS_COMMANDS } from './operators';

/**
 * Every command, by its words. To add one: its file in `commands/`, which exports a {@link Command} of the same name; a line
 * here; its examples in `test/page/examples.ts`, which a test runs and `docs/cli.md` shows with what they print.
 */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  login: {
    group: 'Who you are',
    summary: 'Signs you in: makes a profile.',
    load: async () => (await import('./commands/login.ts')).login,
  },
  logout: {
    group: 'Who you are',
    summary: 'Forgets a profile, with its tokens.',
    load: async () => (await import('./commands/logout.ts')).logout,
  },
  whoami: {
    group: 'Who you are',
    summary: 'Who you are, of which tenants, and where.',
    load: async () => (await import('./commands/whoami.ts')).whoami,
  },
  use: {
    group: 'Who you are',
    summary: 'Chooses the tenant that you act for.',
    load: async () => (await import('./commands/use.ts')).use,
  },
  put: {
    group: 'Versions',
    summary: 'Writes a version as a file has it: a subject’s first one, or the next.',
    load: async () => (await import('./commands/put.ts')).put,
  },
  get: {
    group: 'Versions',
    summary: 'Shows a version, verified.',
    load: async () => (await import('./commands/get.ts')).get,
  },
  log: {
    group: 'Versions',
    summary: 'Shows the versions of a subject, with who, when and from what evidence.',
    load: async () => (await import('./commands/log.ts')).log,
  },
  diff: {
    group: 'Versions',
    summary: 'Shows what one version says otherwise than another, and from which evidence.',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  blame: {
    group: 'Versions',
    summary: 'Shows of each value since when, by whom and from which evidence it stands.',
    load: async () => (await import('./commands/blame.ts')).blame,
  },
  propose: {
    group: 'Proposals',
    summary: 'Proposes a change of the latest version, with its evidence.',
    load: async () => (await import('./commands/propose.ts')).propose,
  },
  proposals: {
    group: 'Proposals',
    summary: 'Lists proposals, of one subject or of all of the tenant.',
    load: async () => (await import('./commands/proposals.ts')).proposals,
  },
  apply: {
    group: 'Proposals',
    summary: 'Applies a proposal: writes the next version.',
    load: async () => (await import('./commands/apply.ts')).apply,
  },
  withdraw: {
    group: 'Proposals',
    summary: 'Withdraws a proposal.',
    load: async () => (await import('./commands/withdraw.ts')).withdraw,
  },
  verify: {
    group: 'The transparency log',
    summary:
      'Verifies a bundle or a proof of the transparency log, offline, and says what it proves and what it does not.',
    load: async () => (await import('./commands/verify.ts')).verify,
  },
  monitor: {
    group: 'The transparency log',
    summary: 'Looks at a log and keeps its newest checkpoint; finds out when it goes back or shows another history.',
    load: async () => (await import('./commands/monitor.ts')).monitor,
  },
  witness: {
    group: 'The transparency log',
    summary: 'Runs a witness: cosigns checkpoints of logs that only grew. It needs no service and no database.',
    load: async () => (await import('./commands/witness.ts')).witness,
  },
  'log-key': {
    group: 'The transparency log',
    summary:
      'Makes a signing key for a log (LOG_SIGNING_KEY; with --pq LOG_PQ_SIGNING_KEY), and prints its verifier key.',
    load: async () => (await import('./commands/log-key.ts')).logKey,
  },
  'log-key show': {
    group: 'The transparency log',
    summary: 'Prints the verifier key of a signing key.',
    load: async () => (await import('./commands/log-key-show.ts')).showLogKey,
  },
  ...OPERATORS_COMMANDS,
  completion: {
    group: 'This command',
    summary: 'Prints what teaches bash, zsh or fish the words of this command.',
    load: async () => (await import('./commands/completion.ts')).completionOf(COMMANDS),
  },
};
