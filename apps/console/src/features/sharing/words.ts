const COUNT = new Intl.NumberFormat('en');

/** Writes a count: `1,000+` where there are more that were not read. */
const countOf = (count: number, isWhole: boolean): string => COUNT.format(count) + (isWhole ? '' : '+');

const disclosures = (count: number): string => `${COUNT.format(count)} ${count === 1 ? 'disclosure' : 'disclosures'}`;

export const TEXT = {
  title: 'Sharing',
  note: 'The subjects that other tenants may read, and until when.',
  tabs: 'Directions',
  issued: 'Shared by you',
  held: 'Shared with you',
  count: countOf,
  summary: 'Grants by status',
  any: 'Any',
  on: 'On',
  onAll: 'All subjects',
  onOne: 'Single subjects',
  granteeHint: 'A tenant id, or its beginning',
  find: 'Subject',
  findHint: 'Part of its id',
  caption: 'Grants that this tenant issued',
  subjectCaption: 'Grants on this subject',
  change: 'Change',
  changeOf: (grantee: string) => `Change the grant to ${grantee}`,
  revoke: 'Revoke',
  revokeOf: (grantee: string) => `Revoke the grant to ${grantee}`,
  proof: 'Proof',
  proofOf: (grantee: string) => `Proof of the grant to ${grantee}`,
  notWhole: (shown: number) =>
    `The filters apply to the newest ${COUNT.format(shown)} grants. Show more to include older ones.`,
  noGrants: 'Nothing is shared yet',
  noGrantsText: 'A grant lets another tenant read one subject, or all subjects, until it ends or you revoke it.',
  noGrantsReader: 'A tenant_admin can let another tenant read one subject, or all subjects.',
  noneFits: 'No grant fits these filters',
  clear: 'Clear the filters',
  grant: 'Share',

  heldCaption: 'Subjects of other tenants that this tenant may read',
  heldFind: 'Name',
  heldFindHint: 'The beginning of its name',
  latest: 'Latest version',
  notShown: 'not shared',
  noneHeld: 'Nothing is shared with you',
  noneHeldText: 'Grants of other tenants appear here. Give an owner the id of this tenant and ask for a grant:',
  noneHeldFound: 'No shared subject has a name that begins like this',

  make: {
    title: 'Share with other tenants',
    grantees: 'Who may read',
    granteesHint: 'Tenant ids, one per line or separated by commas',
    pick: 'Add a known tenant',
    choose: 'Choose …',
    what: 'What',
    all: 'All subjects of this tenant, existing and future',
    some: 'These subjects',
    subjects: 'Subjects',
    subjectsHint: 'One per line, for example organization/acme-corp',
    add: 'Find a subject to add',
    addHint: 'The beginning of its name',
    addOne: (subject: string) => `Add ${subject}`,
    scopes: 'What they may read',
    until: 'Until when',
    untilHint: 'In your time zone. If empty, the grant is live until you revoke it.',
    inDays: (days: number) => (days === 365 ? 'In a year' : `In ${days} days`),
    purpose: 'Purpose',
    purposeHint: 'Stored with the grant and shown to the grantee. It is in no event and not in the log.',
    willMake: (count: number) =>
      count === 0
        ? 'Enter at least one tenant, one subject and one scope.'
        : count === 1
          ? 'This creates one grant.'
          : `This creates ${COUNT.format(count)} separate grants.`,
    submit: 'Share',
    noSubject: (line: string) =>
      `${line} is not a subject. Write its type, a slash and its id, for example organization/acme-corp`,
    noTenant: (id: string) => `${id} is not a tenant id`,
    tooMany: (most: number) => `At most ${COUNT.format(most)} grants at once.`,
    past: 'The end must be in the future.',
    start: 'From when',
    startHint: 'In your time zone. If empty, the grant starts at once.',
    startPast: 'The start must be in the future.',
    startLate: 'The start must be before the end.',
    made: (count: number) => (count === 1 ? 'One grant was created.' : `${COUNT.format(count)} grants were created.`),
    waiting: (count: number) =>
      count === 1
        ? 'A second human must confirm one grant on all subjects.'
        : `A second human must confirm ${COUNT.format(count)} grants on all subjects.`,
    refused: (count: number) =>
      count === 1 ? 'One grant was refused:' : `${COUNT.format(count)} grants were refused:`,
    refusedCaption: 'Refused grants',
    why: 'Why',
    again: 'Try these again',
    close: 'Close',
  },
  parts: {
    legend: 'Which parts',
    shown: 'Parts',
    whole: 'The whole version',
    some: 'Only some attributes',
    tree: 'Attributes of the version',
    treeOf: (subject: string) =>
      `The latest version of ${subject}. A ticked group includes attributes that are added to it later.`,
    open: (name: string) => `Show the members of ${name}`,
    more: (count: number) => `${COUNT.format(count)} more members. Enter their paths below.`,
    paths: 'Paths',
    pathsHint: 'One JSON Pointer on each line, for example /attributes/legal. A list is shared as a whole.',
    preview: 'What they will see',
    noSubject: 'Enter a subject above to choose from its attributes.',
    none: 'Tick at least one attribute, or share the whole version.',
    tooMany: (count: number, most: number) =>
      `${COUNT.format(count)} paths are more than ${COUNT.format(most)}. Tick groups instead of single attributes.`,
    noPath: (path: string) => `${path} is not a path. Begin with /attributes/, and write ~ as ~0 and / as ~1 in names.`,
  },
  pending: {
    text: 'A second human must confirm these grants on all subjects within a day. Until then they give no rights.',
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
    reasonHint: 'Stored with the change',
    submit: 'Change',
    nothing: 'Nothing is changed yet.',
    narrower: (scopes: string) => `Takes away: ${scopes}.`,
    wider: (scopes: string) => `Adds: ${scopes}.`,
  },
  revoking: {
    title: (grantee: string) => `Revoke the grant to ${grantee}?`,
    text: (what: string, grantee: string) =>
      `${grantee} loses access to ${what} through this grant immediately. Other grants to it stay. It keeps what it has already read.`,
  },
  proving: {
    title: 'Proof from the log',
    fact: 'Fact',
    facts: { state: 'Current state', created: 'Created', changed: 'Latest change', revoked: 'Revoked' },
    proof: 'The proof',
    toLog: 'Open the log',
    close: 'Close',
    noGrant: 'Prove that it was never shared with you',
    noGrantText: (tenant: string) =>
      `If the log has no grant on this subject to ${tenant}, the service can prove that. The proof does not tell whether the subject exists.`,
    grantsTo: (count: number, tenant: string) =>
      count === 0
        ? `The log has no grant on this subject to ${tenant}. Grants on all subjects of an owner are not part of this proof.`
        : `The log has ${COUNT.format(count)} ${count === 1 ? 'grant' : 'grants'} on this subject to ${tenant}. The proof does not tell whether they have ended.`,
    complete: 'Prove that the list is complete',
    isComplete: (count: number) =>
      count === 0
        ? 'The list is complete: the log has no disclosure of this subject.'
        : `The list is complete: it has ${disclosures(count)}, as many as the log.`,
    isShort: (listed: number, logged: number) =>
      `The list is not complete. It has ${disclosures(listed)}, but the log has ${disclosures(logged)}.`,
    isAhead: (listed: number, logged: number) =>
      `The list has ${disclosures(listed)}, and the log has ${disclosures(logged)}. The log does not have the newest ones yet.`,
    isUncounted: (listed: number, logged: number) =>
      `The log has ${disclosures(logged)}. This page counts only the newest ${COUNT.format(listed)}.`,
  },

  subjectTitle: 'Sharing',
  subjectNote: (id: string) => `See which other tenants may read ${id}, could read it at any moment, and have read it.`,
  who: 'Who may read it',
  whoSummary: (live: number, soon: number, isWhole: boolean) =>
    live === 0 && isWhole
      ? 'No other tenant may read it now.'
      : `${countOf(live, isWhole)} live ${live === 1 ? 'grant' : 'grants'}${soon === 0 ? '' : `, ${COUNT.format(soon)} of them ${soon === 1 ? 'ends' : 'end'} within 30 days`}.`,
  over: (count: number) => `Show ${COUNT.format(count)} ended ${count === 1 ? 'grant' : 'grants'}`,
  noneOn: 'It was never shared',
  noneOnText: 'Only this tenant can read it.',
  could: 'Access over time',
  couldText: 'Each bar is a period in which a tenant could read it. Choose any moment, past or future.',
  moment: 'Moment',
  now: 'Now',
  previous: 'Previous change',
  next: 'Next change',
  atCaption: 'Tenants with access at that moment',
  couldAt: (count: number) =>
    count === 0
      ? 'No other tenant could read it at that moment.'
      : count === 1
        ? 'One grant gave access at that moment:'
        : `${COUNT.format(count)} grants gave access at that moment:`,
  from: 'From',
  ended: 'How it ended',
  endedBy: { revoked: 'Revoked', expired: 'Expired', replaced: 'Changed' },
  lives: 'Live',
  log: 'Log entry',
  notLogged: 'not yet',
  noPeriods: 'No other tenant could ever read it',
  did: {
    title: 'Who read it',
    note: 'The first time each day (UTC) that a member of another tenant was shown a version in one way. The service records it before it sends the response.',
    caption: 'Disclosures',
    empty: 'No other tenant has read it',
    emptyFiltered: 'No disclosures in this period',
    emptyText: 'When a grantee reads a version, it is listed here.',
  },
  day: 'Day',
  reader: 'Reader',
  tenant: 'Tenant',
  versions: 'Versions',
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
    credential: 'Credential',
    name: 'Name in a list',
  },
  request: 'Request',
  fromDay: 'From',
  toDay: 'To',
  perDay: 'Disclosures per day',
  withContent: 'With content',
  withoutContent: 'Hashes and times only',
  plotted: (count: number, days: number, tenants: number) =>
    `${disclosures(count)} on ${COUNT.format(days)} ${days === 1 ? 'day' : 'days'}, to ${COUNT.format(tenants)} ${tenants === 1 ? 'tenant' : 'tenants'}.`,
  plottedNewest: (count: number) => `Only the newest ${COUNT.format(count)} are counted.`,
  adminOnly: 'Only a tenant_admin sees who could read it on a date, and who read it.',
  foreign: (owner: string) => `${owner} owns this subject and decides who may read it.`,
  ours: 'Your access to it',
  oursNone: 'This tenant has no live grant on it.',
} as const;
