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
  share: {
    group: 'Sharing',
    summary: 'Lets another tenant read a subject, by what, and until when.',
    load: async () => (await import('./commands/share.ts')).share,
  },
  grants: {
    group: 'Sharing',
    summary: 'Lists the grants that you gave, or with --held what you may read of others.',
    load: async () => (await import('./commands/grants.ts')).grants,
  },
  revoke: {
    group: 'Sharing',
    summary: 'Takes a grant back: nothing is read by it any more.',
    load: async () => (await import('./commands/revoke.ts')).revoke,
  },
  who: {
    group: 'Sharing',
    summary: 'Says who may read a subject, by which right, and why somebody may not.',
    load: async () => (await import('./commands/who.ts')).who,
  },
  requests: {
    group: 'Sharing',
    summary: 'Lists what readers ask you to bring up to date.',
    load: async () => (await import('./commands/requests.ts')).requests,
  },
  'requests ask': {
    group: 'Sharing',
    summary: 'Asks the owner of a subject to bring it up to date.',
    load: async () => (await import('./commands/requests-ask.ts')).askRequest,
  },
  'requests fulfil': {
    group: 'Sharing',
    summary: 'Answers a request with a version.',
    load: async () => (await import('./commands/requests-fulfil.ts')).fulfilRequest,
  },
  'requests decline': {
    group: 'Sharing',
    summary: 'Declines a request.',
    load: async () => (await import('./commands/requests-decline.ts')).declineRequest,
  },
  'requests cancel': {
    group: 'Sharing',
    summary: 'Takes back a request of your own.',
    load: async () => (await import('./commands/requests-cancel.ts')).cancelRequest,
  },
  changes: {
    group: 'Feeds and archives',
    summary: 'Shows what changed of all that you own or may read; with --follow as it happens.',
    load: async () => (await import('./commands/changes.ts')).changes,
  },
  import: {
    group: 'Feeds and archives',
    summary: 'Writes the versions of an archive, and goes on where it was broken off.',
    load: async () => (await import('./commands/import.ts')).importFile,
  },
  export: {
    group: 'Feeds and archives',
    summary: 'Writes the whole history of a subject, verified; with --proofs as a bundle for iss verify.',
    load: async () => (await import('./commands/export.ts')).exportHistory,
  },
  listen: {
    group: 'Webhooks',
    summary: 'Brings events to a receiver on this machine, signed as the service signs them.',
    load: async () => (await import('./commands/listen.ts')).listen,
  },
  hooks: {
    group: 'Webhooks',
    summary: 'Lists webhook subscriptions.',
    load: async () => (await import('./commands/hooks.ts')).hooks,
  },
  'hooks create': {
    group: 'Webhooks',
    summary: 'Subscribes a receiver to events.',
    load: async () => (await import('./commands/hooks-create.ts')).createHook,
  },
  'hooks change': {
    group: 'Webhooks',
    summary: 'Changes where events go, which, or whether.',
    load: async () => (await import('./commands/hooks-change.ts')).changeHook,
  },
  'hooks rotate': {
    group: 'Webhooks',
    summary: 'Gives a subscription a new secret.',
    load: async () => (await import('./commands/hooks-rotate.ts')).rotateHook,
  },
  'hooks end': {
    group: 'Webhooks',
    summary: 'Ends a subscription.',
    load: async () => (await import('./commands/hooks-end.ts')).endHook,
  },
  trigger: {
    group: 'Webhooks',
    summary: 'Sends webhook.test to a receiver, and says how it answered.',
    load: async () => (await import('./commands/trigger.ts')).trigger,
  },
  deliveries: {
    group: 'Webhooks',
    summary: 'Lists what was sent, and how each attempt ended.',
    load: async () => (await import('./commands/deliveries.ts')).deliveries,
  },
  redeliver: {
    group: 'Webhooks',
    summary: 'Sends one delivery again, or all of a period that failed.',
    load: async () => (await import('./commands/redeliver.ts')).redeliver,
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
