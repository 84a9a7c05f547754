import type { Command } from './command';

/** What a command belongs to, in the order of `iss --help`. */
export const GROUPS = [
  'Who you are',
  'Versions',
  'Proposals',
  'Sharing',
  'Feeds and archives',
  'Webhooks',
  'The transparency log',
  'Operators',
  'This command',
] as const;

/** A line of the table of commands: what is known of one without loading it. */
export interface CommandEntry {
  group: (typeof GROUPS)[number];
  /** What it does, in a line. */
  summary: string;
  load(): Promise<Command>;
}

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
  audit: {
    group: 'Operators',
    summary:
      'Recomputes every hash, link, entry, tile and checkpoint in a database, and names each row that is not as it was logged.',
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  'log-restart': {
    group: 'Operators',
    summary:
      'Begins a log anew under another name, where its end is lost for good; its first entry names the last checkpoint and why.',
    load: async () => (await import('./commands/log-restart.ts')).restartLog,
  },
  migrate: {
    group: 'Operators',
    summary: 'Brings the database up to date, as the owner of its tables; where all is there, it changes nothing.',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  'admin limits list': {
    group: 'Operators',
    summary: 'Lists what was set for single tenants and principals, or every limit of one of them.',
    load: async () => (await import('./commands/admin-limits-list.ts')).listLimits,
  },
  'admin limits set': {
    group: 'Operators',
    summary: 'Sets a limit of one tenant or principal; it acts at once.',
    load: async () => (await import('./commands/admin-limits-set.ts')).setLimit,
  },
  'admin limits unset': {
    group: 'Operators',
    summary: 'Takes back what was set: the default holds again, at once.',
    load: async () => (await import('./commands/admin-limits-unset.ts')).unsetLimit,
  },
};
