import type { CommandEntry } from './command';
import { OPERATORS_COMMANDS } from './operators';

/** How the commands of operators begin, which a package leaves out: `iss` says where they are. */
export const OPERATORS_WORDS = ['audit', 'doctor', 'log-restart', 'migrate', 'admin'] as const;

/**
 * Every command, by its words. To add one: its file in `commands/`, which exports a {@link Command} of the same name; a line
 * here; its examples in `test/page/examples.ts`, which a test runs and `docs/cli.md` shows with what they print.
 */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  login: {
    group: 'Who you are',
    summary: 'Signs you in: makes a profile.',
    example: 'iss login --base-url https://iss.example.com',
    load: async () => (await import('./commands/login.ts')).login,
  },
  logout: {
    group: 'Who you are',
    summary: 'Forgets a profile, with its tokens.',
    example: 'iss logout --profile auditor',
    load: async () => (await import('./commands/logout.ts')).logout,
  },
  whoami: {
    group: 'Who you are',
    summary: 'Who you are, of which tenants, and where.',
    example: 'iss whoami',
    load: async () => (await import('./commands/whoami.ts')).whoami,
  },
  use: {
    group: 'Who you are',
    summary: 'Chooses the tenant that you act for.',
    example: 'iss use agency',
    load: async () => (await import('./commands/use.ts')).use,
  },
  invitations: {
    group: 'Who you are',
    summary: 'Lists the tenants that invited you.',
    example: 'iss invitations',
    load: async () => (await import('./commands/invitations.ts')).invitations,
  },
  join: {
    group: 'Who you are',
    summary: 'Accepts the invitation of a tenant.',
    example: 'iss join agency',
    load: async () => (await import('./commands/join.ts')).join,
  },
  leave: {
    group: 'Who you are',
    summary: 'Leaves a tenant, or declines its invitation.',
    example: 'iss leave agency',
    load: async () => (await import('./commands/leave.ts')).leave,
  },
  unblock: {
    group: 'Who you are',
    summary: 'Lets a tenant that you blocked invite you again.',
    example: 'iss unblock agency',
    load: async () => (await import('./commands/unblock.ts')).unblock,
  },
  put: {
    group: 'Versions',
    summary: 'Writes a version as a file has it: a subject’s first one, or the next.',
    example: 'iss put harbour-1.json',
    load: async () => (await import('./commands/put.ts')).put,
  },
  get: {
    group: 'Versions',
    summary: 'Shows a version, verified.',
    example: 'iss get harbour --as-of 2025-06-30 --policy policy',
    load: async () => (await import('./commands/get.ts')).get,
  },
  subjects: {
    group: 'Versions',
    summary: 'Lists the subjects that your tenant owns.',
    example: 'iss subjects --type organization --query harbour',
    load: async () => (await import('./commands/subjects.ts')).subjects,
  },
  log: {
    group: 'Versions',
    summary: 'Shows the versions of a subject, with who, when and from what evidence.',
    example: 'iss log harbour --oneline',
    load: async () => (await import('./commands/log.ts')).log,
  },
  diff: {
    group: 'Versions',
    summary: 'Shows what one version says otherwise than another, and from which evidence.',
    example: 'iss diff harbour 1..2',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  blame: {
    group: 'Versions',
    summary: 'Shows of each value since when, by whom and from which evidence it stands.',
    example: 'iss blame harbour /attributes/legal',
    load: async () => (await import('./commands/blame.ts')).blame,
  },
  erasures: {
    group: 'Versions',
    summary: 'Lists the erasures of a subject or of the tenant.',
    example: 'iss erasures individual/jane',
    load: async () => (await import('./commands/erasures.ts')).erasures,
  },
  propose: {
    group: 'Proposals',
    summary: 'Proposes a change of the latest version, with its evidence.',
    example: `iss propose harbour --set '/attributes/legal/form="plc"'`,
    load: async () => (await import('./commands/propose.ts')).propose,
  },
  proposals: {
    group: 'Proposals',
    summary: 'Lists proposals, of one subject or of all of the tenant.',
    example: 'iss proposals --status applied',
    load: async () => (await import('./commands/proposals.ts')).proposals,
  },
  apply: {
    group: 'Proposals',
    summary: 'Applies a proposal: writes the next version.',
    example: 'iss apply 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    load: async () => (await import('./commands/apply.ts')).apply,
  },
  withdraw: {
    group: 'Proposals',
    summary: 'Withdraws a proposal.',
    example: 'iss withdraw 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    load: async () => (await import('./commands/withdraw.ts')).withdraw,
  },
  share: {
    group: 'Sharing',
    summary: 'Lets another tenant read a subject, by what, and until when.',
    example: 'iss share harbour lender --scopes latest,diff --until 90d',
    load: async () => (await import('./commands/share.ts')).share,
  },
  grants: {
    group: 'Sharing',
    summary: 'Lists the grants that you gave, or with --held what you may read of others.',
    example: 'iss grants harbour',
    load: async () => (await import('./commands/grants.ts')).grants,
  },
  pending: {
    group: 'Sharing',
    summary: 'Lists the grants on all subjects that wait for a second human.',
    example: 'iss pending',
    load: async () => (await import('./commands/pending.ts')).pending,
  },
  'pending confirm': {
    group: 'Sharing',
    summary: 'Confirms a grant on all subjects, which makes it.',
    example: 'iss pending confirm 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    load: async () => (await import('./commands/pending-confirm.ts')).confirmPending,
  },
  'pending cancel': {
    group: 'Sharing',
    summary: 'Cancels a grant on all subjects that was not confirmed.',
    example: 'iss pending cancel 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    load: async () => (await import('./commands/pending-cancel.ts')).cancelPending,
  },
  accept: {
    group: 'Sharing',
    summary: 'Accepts a grant on all subjects of another tenant.',
    example: 'iss accept 0b9f2c1e-6a55-4a3c-9e67-0f8f6cf5a001',
    load: async () => (await import('./commands/accept.ts')).accept,
  },
  revoke: {
    group: 'Sharing',
    summary: 'Takes a grant back: nothing is read by it any more.',
    example: 'iss revoke 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    load: async () => (await import('./commands/revoke.ts')).revoke,
  },
  who: {
    group: 'Sharing',
    summary: 'Says who may read a subject, by which right, and why somebody may not.',
    example: 'iss who harbour lender --at 2025-12-31',
    load: async () => (await import('./commands/who.ts')).who,
  },
  members: {
    group: 'Sharing',
    summary: 'Lists the members of your tenant.',
    example: 'iss members',
    load: async () => (await import('./commands/members.ts')).members,
  },
  requests: {
    group: 'Sharing',
    summary: 'Lists what readers ask you to bring up to date.',
    example: 'iss requests --outgoing --status all',
    load: async () => (await import('./commands/requests.ts')).requests,
  },
  'requests ask': {
    group: 'Sharing',
    summary: 'Asks the owner of a subject to bring it up to date.',
    example: 'iss requests ask harbour --path /attributes/legal --due 14d',
    load: async () => (await import('./commands/requests-ask.ts')).askRequest,
  },
  'requests fulfil': {
    group: 'Sharing',
    summary: 'Answers a request with a version.',
    example: 'iss requests fulfil 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    load: async () => (await import('./commands/requests-fulfil.ts')).fulfilRequest,
  },
  'requests decline': {
    group: 'Sharing',
    summary: 'Declines a request.',
    example: 'iss requests decline 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    load: async () => (await import('./commands/requests-decline.ts')).declineRequest,
  },
  'requests cancel': {
    group: 'Sharing',
    summary: 'Takes back a request of your own.',
    example: 'iss requests cancel 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    load: async () => (await import('./commands/requests-cancel.ts')).cancelRequest,
  },
  changes: {
    group: 'Feeds and archives',
    summary: 'Shows what changed of all that you own or may read; with --follow as it happens.',
    example: 'iss changes --after 41 --follow',
    load: async () => (await import('./commands/changes.ts')).changes,
  },
  import: {
    group: 'Feeds and archives',
    summary: 'Writes the versions of an archive, and goes on where it was broken off.',
    example: 'iss import archive.ndjson',
    load: async () => (await import('./commands/import.ts')).importFile,
  },
  export: {
    group: 'Feeds and archives',
    summary: 'Writes the whole history of a subject, verified; with --proofs as a bundle for iss verify.',
    example: 'iss export harbour --proofs > harbour.ndjson',
    load: async () => (await import('./commands/export.ts')).exportHistory,
  },
  listen: {
    group: 'Webhooks',
    summary: 'Brings events to a receiver on this machine, signed as the service signs them.',
    example: 'iss listen --forward-to http://localhost:8080',
    load: async () => (await import('./commands/listen.ts')).listen,
  },
  hooks: {
    group: 'Webhooks',
    summary: 'Lists webhook subscriptions.',
    example: 'iss hooks',
    load: async () => (await import('./commands/hooks.ts')).hooks,
  },
  'hooks create': {
    group: 'Webhooks',
    summary: 'Subscribes a receiver to events.',
    example: 'iss hooks create https://example.com/in --events grant.created',
    load: async () => (await import('./commands/hooks-create.ts')).createHook,
  },
  'hooks change': {
    group: 'Webhooks',
    summary: 'Changes where events go, which, or whether.',
    example: 'iss hooks change wsub_… --disable',
    load: async () => (await import('./commands/hooks-change.ts')).changeHook,
  },
  'hooks rotate': {
    group: 'Webhooks',
    summary: 'Gives a subscription a new secret.',
    example: 'iss hooks rotate wsub_… --grace 3600',
    load: async () => (await import('./commands/hooks-rotate.ts')).rotateHook,
  },
  'hooks end': {
    group: 'Webhooks',
    summary: 'Ends a subscription.',
    example: 'iss hooks end wsub_…',
    load: async () => (await import('./commands/hooks-end.ts')).endHook,
  },
  trigger: {
    group: 'Webhooks',
    summary: 'Sends webhook.test to a receiver, and says how it answered.',
    example: 'iss trigger wsub_…',
    load: async () => (await import('./commands/trigger.ts')).trigger,
  },
  deliveries: {
    group: 'Webhooks',
    summary: 'Lists what was sent, and how each attempt ended.',
    example: 'iss deliveries wsub_… --status dead',
    load: async () => (await import('./commands/deliveries.ts')).deliveries,
  },
  redeliver: {
    group: 'Webhooks',
    summary: 'Sends one delivery again, or all of a period that failed.',
    example: 'iss redeliver wsub_… --from 2026-01-31 --status dead',
    load: async () => (await import('./commands/redeliver.ts')).redeliver,
  },
  verify: {
    group: 'The transparency log',
    summary:
      'Verifies a bundle or a proof of the transparency log, offline, and says what it proves and what it does not.',
    example: 'iss verify harbour.ndjson --policy policy',
    load: async () => (await import('./commands/verify.ts')).verify,
  },
  proof: {
    group: 'The transparency log',
    summary: 'Prints the proof of the log for one version, for iss verify.',
    example: 'iss proof harbour@1 > harbour.proof',
    load: async () => (await import('./commands/proof.ts')).proof,
  },
  monitor: {
    group: 'The transparency log',
    summary: 'Looks at a log and keeps its newest checkpoint; finds out when it goes back or shows another history.',
    example: 'iss monitor --log https://example.com/log --policy policy --state state',
    load: async () => (await import('./commands/monitor.ts')).monitor,
  },
  witness: {
    group: 'The transparency log',
    summary: 'Runs a witness: cosigns checkpoints of logs that only grew. It needs no service and no database.',
    example: 'iss witness --key witness.key --policy policy --state state',
    load: async () => (await import('./commands/witness.ts')).witness,
  },
  'log-key': {
    group: 'The transparency log',
    summary:
      'Makes a signing key for a log (LOG_SIGNING_KEY; with --pq LOG_PQ_SIGNING_KEY), and prints its verifier key.',
    example: 'iss log-key log.example/iss',
    load: async () => (await import('./commands/log-key.ts')).logKey,
  },
  'log-key show': {
    group: 'The transparency log',
    summary: 'Prints the verifier key of a signing key.',
    example: 'iss log-key show log.key',
    load: async () => (await import('./commands/log-key-show.ts')).showLogKey,
  },
  ...OPERATORS_COMMANDS,
  api: {
    group: 'This command',
    summary: 'Sends one request of the API as you.',
    example: 'iss api GET /v1/tenants',
    load: async () => (await import('./commands/api.ts')).api,
  },
  completion: {
    group: 'This command',
    summary: 'Prints what teaches bash, zsh or fish the words of this command.',
    example: 'source <(iss completion bash)',
    load: async () => (await import('./commands/completion.ts')).completionOf(COMMANDS),
  },
};
