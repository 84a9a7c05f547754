import { type CommandEntry, commandsOf } from './command';
import { OPERATORS_COMMANDS } from './operators';

/** First words of operator commands. A package does not have them, and its error message says where to find them. */
export const OPERATORS_WORDS = ['audit', 'doctor', 'log-restart', 'migrate', 'admin'] as const;

/**
 * All commands by name. To add one, export a {@link Command} from the file of its resource in `commands/`, under its name in camel case. Then
 * add its words here, and a line to `test/page/examples.ts`. A test runs these lines, and docs/cli.md shows those that name a command.
 */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  ...commandsOf('Identity', () => import('./commands/login.ts'), {
    login: { summary: 'Sign in and save a profile.', example: 'iss login --base-url https://iss.example.com' },
  }),
  ...commandsOf('Identity', () => import('./commands/membership.ts'), {
    logout: { summary: 'Delete a profile and its tokens.', example: 'iss logout --profile auditor' },
    whoami: { summary: 'Show your user, your tenants and the service.', example: 'iss whoami' },
    use: { summary: 'Select the tenant to act for.', example: 'iss use agency' },
    invitations: { summary: 'List the tenants that invited you.', example: 'iss invitations' },
    join: { summary: 'Accept the invitation of a tenant.', example: 'iss join agency' },
    leave: { summary: 'Leave a tenant or decline its invitation.', example: 'iss leave agency' },
    unblock: { summary: 'Allow a blocked tenant to invite you again.', example: 'iss unblock agency' },
  }),
  ...commandsOf('Versions', () => import('./commands/versions/put.ts'), {
    put: { summary: 'Write a version from a file.', example: 'iss put harbour-1.json' },
  }),
  ...commandsOf('Versions', () => import('./commands/versions/get.ts'), {
    get: { summary: 'Show a verified version.', example: 'iss get harbour --as-of 2025-06-30 --policy policy' },
  }),
  ...commandsOf('Versions', () => import('./commands/versions/lists.ts'), {
    subjects: {
      summary: 'List the subjects that your tenant owns.',
      example: 'iss subjects --type organization --query harbour',
    },
  }),
  ...commandsOf('Versions', () => import('./commands/versions/log.ts'), {
    log: { summary: 'Show the history of a subject.', example: 'iss log harbour --oneline' },
  }),
  ...commandsOf('Versions', () => import('./commands/versions/diff.ts'), {
    diff: { summary: 'Compare two versions, with the evidence of each change.', example: 'iss diff harbour 1..2' },
  }),
  ...commandsOf('Versions', () => import('./commands/versions/blame.ts'), {
    blame: {
      summary: 'Show who set each value, when, and from what evidence.',
      example: 'iss blame harbour /attributes/legal',
    },
  }),
  ...commandsOf('Versions', () => import('./commands/versions/lists.ts'), {
    erasures: { summary: 'List the erasures of a subject or of the tenant.', example: 'iss erasures individual/jane' },
  }),
  ...commandsOf('Proposals', () => import('./commands/proposals.ts'), {
    propose: {
      summary: 'Propose a change to the latest version.',
      example: `iss propose harbour --set '/attributes/legal/form="plc"'`,
    },
    proposals: { summary: 'List proposals.', example: 'iss proposals --status applied' },
    apply: {
      summary: 'Apply a proposal as the next version.',
      example: 'iss apply 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    },
    withdraw: { summary: 'Withdraw a proposal.', example: 'iss withdraw 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10' },
  }),
  ...commandsOf('Sharing', () => import('./commands/grants.ts'), {
    share: {
      summary: 'Grant another tenant read access to a subject.',
      example: 'iss share harbour lender --scopes latest,diff --until 90d',
    },
    grants: { summary: 'List the grants that your tenant gave or received.', example: 'iss grants harbour' },
    pending: { summary: 'List the grants on all subjects that wait for confirmation.', example: 'iss pending' },
    'pending confirm': {
      summary: 'Confirm a pending grant.',
      example: 'iss pending confirm 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    },
    'pending cancel': {
      summary: 'Cancel a pending grant.',
      example: 'iss pending cancel 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    },
    accept: {
      summary: 'Accept a grant on all subjects of another tenant.',
      example: 'iss accept 0b9f2c1e-6a55-4a3c-9e67-0f8f6cf5a001',
    },
    amend: {
      summary: 'Change the scopes, paths, start or end of a grant.',
      example: 'iss amend 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10 --path /attributes/legal',
    },
    revoke: { summary: 'Revoke a grant.', example: 'iss revoke 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10' },
  }),
  ...commandsOf('Sharing', () => import('./commands/credentials/issued.ts'), {
    'credential issue': {
      summary: 'Issue a credential of a version.',
      example: 'iss credential issue harbour@2 --path /attributes/legal',
    },
    'credential offer': {
      summary: 'Offer a credential of a version to a wallet.',
      example: 'iss credential offer harbour@2 --type company_info',
    },
    'credential list': { summary: 'List issued credentials.', example: 'iss credential list' },
    'credential get': { summary: 'Show the status of a credential.', example: 'iss credential get cred_…' },
    'credential withdraw': { summary: 'Make a credential invalid.', example: 'iss credential withdraw cred_…' },
    'credential key create': {
      summary: 'Create the key that signs from now on.',
      example: 'iss credential key create',
    },
    'credential key list': { summary: 'List the issuing keys.', example: 'iss credential key list' },
    'credential key retire': { summary: 'Retire a compromised key.', example: 'iss credential key retire KID' },
  }),
  ...commandsOf('Sharing', () => import('./commands/who.ts'), {
    who: { summary: 'Show who may read a subject, and why.', example: 'iss who harbour lender --at 2025-12-31' },
  }),
  ...commandsOf('Sharing', () => import('./commands/membership.ts'), {
    members: { summary: 'List the members of your tenant.', example: 'iss members' },
  }),
  ...commandsOf('Sharing', () => import('./commands/requests.ts'), {
    requests: {
      summary: 'List the requests to update your subjects.',
      example: 'iss requests --outgoing --status all',
    },
    'requests ask': {
      summary: 'Ask the owner of a subject to update it.',
      example: 'iss requests ask harbour --path /attributes/legal --due 14d',
    },
    'requests fulfil': {
      summary: 'Fulfil a request with a version.',
      example: 'iss requests fulfil 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    },
    'requests decline': {
      summary: 'Decline a request.',
      example: 'iss requests decline 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    },
    'requests cancel': {
      summary: 'Cancel a request of your tenant.',
      example: 'iss requests cancel 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
    },
  }),
  ...commandsOf('Evidence', () => import('./commands/credentials/attestations.ts'), {
    attestations: { summary: 'List the credentials that your tenant uses as evidence.', example: 'iss attestations' },
    'attestations add': {
      summary: 'Verify a credential and add it as evidence.',
      example: 'iss attestations add extract.sd-jwt',
    },
    'attestations request': {
      summary: 'Request a credential from a wallet.',
      example: 'iss attestations request https://registry.example/extract --claim /legal_name',
    },
    'attestations wait': {
      summary: 'Wait for the answer of a wallet.',
      example: 'iss attestations wait 7e3d5c18-b9a2-4f60-8c41-d2f0a6b7e935',
    },
    issuers: { summary: 'List the issuers that your tenant trusts.', example: 'iss issuers' },
    'issuers trust': {
      summary: 'Accept credentials of an issuer as evidence.',
      example: 'iss issuers trust https://registry.example --type extract --keys keys.json',
    },
    'issuers remove': {
      summary: 'Accept no more credentials of an issuer.',
      example: 'iss issuers remove https://registry.example',
    },
  }),
  ...commandsOf('Feeds and archives', () => import('./commands/versions/changes.ts'), {
    changes: { summary: 'Show the change feed.', example: 'iss changes --after 41 --follow' },
  }),
  ...commandsOf('Feeds and archives', () => import('./commands/versions/import.ts'), {
    import: { summary: 'Import the versions of an archive.', example: 'iss import archive.ndjson' },
  }),
  ...commandsOf('Feeds and archives', () => import('./commands/versions/export.ts'), {
    export: {
      summary: 'Export the verified history of a subject as NDJSON.',
      example: 'iss export harbour --proofs > harbour.ndjson',
    },
  }),
  ...commandsOf('Webhooks', () => import('./commands/listen.ts'), {
    listen: {
      summary: 'Forward events to a receiver on this machine.',
      example: 'iss listen --forward-to http://localhost:8080',
    },
  }),
  ...commandsOf('Webhooks', () => import('./commands/hooks.ts'), {
    hooks: { summary: 'List webhook subscriptions.', example: 'iss hooks' },
    'hooks create': {
      summary: 'Subscribe a receiver to events.',
      example: 'iss hooks create https://example.com/in --events grant.created',
    },
    'hooks change': { summary: 'Change a webhook subscription.', example: 'iss hooks change wsub_… --disable' },
    'hooks rotate': {
      summary: 'Replace the secret of a subscription.',
      example: 'iss hooks rotate wsub_… --grace 3600',
    },
    'hooks end': { summary: 'Delete a subscription.', example: 'iss hooks end wsub_…' },
  }),
  ...commandsOf('Webhooks', () => import('./commands/deliveries.ts'), {
    trigger: { summary: 'Send the event webhook.test to a receiver.', example: 'iss trigger wsub_…' },
    deliveries: { summary: 'List deliveries and their attempts.', example: 'iss deliveries wsub_… --status dead' },
    redeliver: { summary: 'Send deliveries again.', example: 'iss redeliver wsub_… --from 2026-01-31 --status dead' },
  }),
  ...commandsOf('Transparency log', () => import('./commands/verify.ts'), {
    verify: { summary: 'Verify a bundle or a proof offline.', example: 'iss verify harbour.ndjson --policy policy' },
  }),
  ...commandsOf('Transparency log', () => import('./commands/versions/proof.ts'), {
    proof: {
      summary: 'Print the proof of a version, of the newest version or of an absence.',
      example: 'iss proof harbour@1 > harbour.proof',
    },
  }),
  ...commandsOf('Transparency log', () => import('./commands/monitor.ts'), {
    monitor: {
      summary: 'Check that a log only grows.',
      example: 'iss monitor --log https://example.com/log --policy policy --state state',
    },
  }),
  ...commandsOf('Transparency log', () => import('./commands/witness.ts'), {
    witness: {
      summary: 'Run a witness, which cosigns checkpoints of logs that only grow.',
      example: 'iss witness --key key --state state --logs logs --listen 127.0.0.1:3040',
    },
  }),
  ...commandsOf('Transparency log', () => import('./commands/log-key.ts'), {
    'log-key': {
      summary: 'Create a signing key or VRF key for a log.',
      example: 'iss log-key --origin log.example/iss --out log.key',
    },
    'log-key show': { summary: 'Print the public part of a key.', example: 'iss log-key show log.key' },
  }),
  ...OPERATORS_COMMANDS,
  ...commandsOf('Tools', () => import('./commands/api.ts'), {
    api: { summary: 'Send an API request as you.', example: 'iss api GET /v1/tenants' },
  }),
  ...commandsOf(
    'Tools',
    async () => ({ completion: (await import('./commands/completion.ts')).completionOf(COMMANDS) }),
    {
      completion: { summary: 'Print a shell completion script.', example: 'source <(iss completion bash)' },
    },
  ),
};
