import type { api } from '@identity-state/client';
import { SCOPE_NAMES } from './scopes.ts';

type Scope = api.Grant['scopes'][number];

/** The scopes of a grant, in a sentence each. */
export const SCOPES: Readonly<Record<Scope, { readonly name: string; readonly lets: string }>> = {
  read_latest: {
    name: SCOPE_NAMES.read_latest,
    lets: 'The latest version with its attributes and evidence, and to be found by name and identifier.',
  },
  read_lineage: {
    name: SCOPE_NAMES.read_lineage,
    lets: 'Every version there was and will be: history, where each value comes from, chain proof, export.',
  },
  read_snapshot_by_id: {
    name: SCOPE_NAMES.read_snapshot_by_id,
    lets: 'A single version whose number or id is known, with its proof; no list of versions.',
  },
  read_diff: {
    name: SCOPE_NAMES.read_diff,
    lets: 'The changes between two versions, with the values before and after.',
  },
};

const COUNT = new Intl.NumberFormat('en');

export const TEXT = {
  title: 'Sharing',
  note: 'The subjects that other tenants may read, and until when.',
  tabs: 'Directions',
  issued: 'What we share',
  held: 'Shared with us',
  summary: 'Grants by status',
  status: 'Status',
  statuses: {
    live: 'Live',
    expiring: 'Ends within 30 days',
    expired: 'Expired',
    revoked: 'Revoked',
  },
  any: 'Any',
  on: 'On',
  onAll: 'All subjects',
  onOne: 'Single subjects',
  grantee: 'Grantee',
  granteeHint: 'The id of a tenant, or its beginning',
  find: 'Subject',
  findHint: 'A part of its id',
  caption: 'Grants that this tenant issued',
  subjectCaption: 'Grants on this subject',
  subject: 'Subject',
  allSubjects: 'All subjects',
  allSubjectsNote: 'Those of now and those to come',
  mayRead: 'May read',
  everything: 'Everything',
  until: 'Until',
  noEnd: 'No end',
  purpose: 'Purpose',
  noPurpose: 'not said',
  by: 'By',
  actions: 'Actions',
  change: 'Change',
  changeOf: (grantee: string) => `Change the grant to ${grantee}`,
  revoke: 'Revoke',
  revokeOf: (grantee: string) => `Revoke the grant to ${grantee}`,
  proof: 'Proof',
  proofOf: (grantee: string) => `Proof of the grant to ${grantee}`,
  notWhole: (shown: number) =>
    `Filters look at the newest ${COUNT.format(shown)} grants. Show more, if what you look for is older.`,
  noGrants: 'Nothing is shared yet',
  noGrantsText: 'A grant lets another tenant read one subject, or all of them, until you say otherwise.',
  noGrantsReader: 'A tenant_admin can let another tenant read a subject, or all of them.',
  noneFits: 'No grant fits these filters',
  clear: 'Clear the filters',
  grant: 'Share',

  heldCaption: 'Subjects of other tenants that this tenant may read',
  heldFind: 'Name',
  heldFindHint: 'How its name begins',
  owner: 'Owner',
  latest: 'Latest version',
  notShown: 'not shared',
  noneHeld: 'Nothing is shared with this tenant',
  noneHeldText:
    'Grants of other tenants appear here. Ask the owner of a subject for a grant to this tenant, by its id:',
  noneHeldFound: 'Nothing shared with this tenant begins with that name',

  make: {
    title: 'Share with other tenants',
    grantees: 'Who may read',
    granteesHint: 'Ids of tenants, one a line or separated by commas',
    pick: 'Add a tenant that you deal with',
    choose: 'Choose …',
    what: 'What',
    all: 'All subjects of this tenant, those of now and later',
    some: 'These subjects',
    subjects: 'Subjects',
    subjectsHint: 'One a line, as organization/acme-corp',
    add: 'Find one to add',
    addHint: 'How its name begins',
    addOne: (subject: string) => `Add ${subject}`,
    scopes: 'What they may read',
    until: 'Until when',
    untilHint: 'In your time zone. Left empty, the grant has no end until it is revoked.',
    inDays: (days: number) => (days === 365 ? 'In a year' : `In ${days} days`),
    purpose: 'What for',
    purposeHint: 'Kept with the grant and shown to the grantee; in no event and no log.',
    willMake: (count: number) =>
      count === 0
        ? 'Name who may read, what, and at least one thing that they may read.'
        : count === 1
          ? 'This makes one grant.'
          : `This makes ${COUNT.format(count)} grants, each of its own.`,
    submit: 'Share',
    noSubject: (line: string) => `${line} is no subject: write its type, a slash and its id, as organization/acme-corp`,
    noTenant: (id: string) => `${id} is no id of a tenant`,
    tooMany: (most: number) => `At most ${COUNT.format(most)} grants at once.`,
    past: 'The end must be in the future.',
    made: (count: number) => (count === 1 ? 'One grant was made.' : `${COUNT.format(count)} grants were made.`),
    waiting: (count: number) =>
      count === 1
        ? 'One grant on all subjects waits for another human to confirm it.'
        : `${COUNT.format(count)} grants on all subjects wait for another human to confirm them.`,
    refused: (count: number) =>
      count === 1 ? 'One was refused, and nothing of it was kept:' : `${COUNT.format(count)} were refused:`,
    refusedCaption: 'Refused grants',
    why: 'Why',
    again: 'Try these again',
    close: 'Close',
  },
  pending: {
    text: 'Another human has to confirm these grants on all subjects within a day. They give no rights before.',
    caption: 'Grants that wait for a second human',
    by: 'Requested by',
    confirmBy: 'Confirm until',
    confirm: 'Confirm',
    confirmOf: (grantee: string) => `Confirm the grant to ${grantee}`,
    cancel: 'Cancel',
    cancelOf: (grantee: string) => `Cancel the request for ${grantee}`,
  },
  patch: {
    title: (grantee: string) => `Change what ${grantee} may read`,
    note: 'It takes effect immediately. The previous grant stays in the history of access, and in the log.',
    reason: 'Why',
    reasonHint: 'Kept with the change',
    submit: 'Change',
    nothing: 'Nothing is different yet.',
    narrower: (scopes: string) => `Takes away: ${scopes}.`,
    wider: (scopes: string) => `Adds: ${scopes}.`,
  },
  revoking: {
    title: (grantee: string) => `Revoke the grant to ${grantee}?`,
    text: (what: string, grantee: string) =>
      `${grantee} loses access to ${what} through this grant immediately. Other grants to it stay. It keeps what it has already read.`,
    confirm: 'Revoke',
  },
  proving: {
    title: 'What the log says',
    fact: 'Fact',
    facts: { created: 'It was made', changed: 'Its newest change', revoked: 'It was revoked' },
    proof: 'The proof',
    toLog: 'To the log',
    close: 'Close',
  },

  subjectTitle: 'Sharing',
  subjectNote: (id: string) => `Who outside may read ${id}, who could, and who did.`,
  who: 'Who may read it',
  whoSummary: (live: number, soon: number) =>
    live === 0
      ? 'Nobody outside may read it now.'
      : `${COUNT.format(live)} live ${live === 1 ? 'grant' : 'grants'}${soon === 0 ? '' : `, ${COUNT.format(soon)} of them ${soon === 1 ? 'ends' : 'end'} within 30 days`}.`,
  over: (count: number) => `Show ${COUNT.format(count)} ended ${count === 1 ? 'grant' : 'grants'}`,
  noneOn: 'No grant was ever made on it',
  noneOnText: 'Only this tenant reads it.',
  could: 'Access over time',
  couldText: 'Each bar is a time in which a tenant could read it. Move to any moment, also one that is yet to come.',
  moment: 'Moment',
  now: 'Now',
  previous: 'Previous change',
  next: 'Next change',
  atCaption: 'Tenants with access at that moment',
  couldAt: (count: number) =>
    count === 0
      ? 'Nobody outside could read it then.'
      : count === 1
        ? 'One grant let it be read then:'
        : `${COUNT.format(count)} grants let it be read then:`,
  from: 'From',
  ended: 'How it ended',
  endedBy: { revoked: 'Revoked', expired: 'Expired', replaced: 'Changed' },
  lives: 'Live',
  log: 'Log entry',
  notLogged: 'not yet',
  noPeriods: 'Nobody outside could ever read it',
  periods: 'Times of access',
  did: 'Who read it',
  didText:
    'The first time on a day (UTC) that somebody of another tenant was shown a version in one way. It is written before the answer leaves.',
  disclosuresCaption: 'Disclosures',
  day: 'Day',
  reader: 'Who',
  tenant: 'Tenant',
  versions: 'Versions',
  version: 'Version',
  via: 'How',
  vias: {
    summary: 'Summary',
    snapshot: 'Version',
    diff: 'Difference',
    provenance: 'Provenance',
    history: 'History',
    export: 'Export',
    bundle: 'Bundle',
    headers: 'Headers (no content)',
    proof: 'Proof (no content)',
    search: 'Search hit',
  },
  request: 'Request',
  fromDay: 'From',
  toDay: 'To',
  noDisclosures: 'Nobody of another tenant has read it',
  noDisclosuresFiltered: 'Nothing was shown in this time',
  noDisclosuresText: 'When a grantee reads a version, it is listed here.',
  perDay: 'Disclosures per day',
  withContent: 'With content',
  withoutContent: 'Hashes and times only',
  plotted: (count: number, days: number, tenants: number) =>
    `${COUNT.format(count)} ${count === 1 ? 'disclosure' : 'disclosures'} on ${COUNT.format(days)} ${days === 1 ? 'day' : 'days'}, to ${COUNT.format(tenants)} ${tenants === 1 ? 'tenant' : 'tenants'}.`,
  plottedNewest: (count: number) => `Of the newest ${COUNT.format(count)}.`,
  adminOnly: 'Only a tenant_admin sees who could read it on a date, and who did.',
  foreign: (owner: string) => `${owner} owns this subject, and decides who reads it.`,
  ours: 'Your access to it',
  oursNone: 'This tenant holds no live grant on it.',
} as const;
