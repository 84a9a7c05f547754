/** The kinds of findings, with their descriptions. */
export const CHECKS = {
  entry_missing: 'the tree has a hash without an entry',
  entry_beyond: 'an entry beyond the size of the tree',
  fact_missing: 'the logged fact is missing',
  entry_type: 'unknown entry type',
  leaf: 'the tables differ from the log',
  record: 'an audit record or a disclosure differs from its entry',
  not_logged: 'a fact is neither logged nor waiting to be logged',
  envelope_hash: 'the envelope does not match envelope_hash',
  erased: 'content is missing without a logged erasure',
  not_erased: 'content exists that the log says was erased',
  not_canonical: 'the envelope is not RFC 8785 text',
  envelope_ids: 'the envelope belongs to another snapshot',
  view: 'the view differs from its hash',
  archived: 'its text in the archive is damaged (docs/operations/archive.md, "Damaged bytes")',
  patch: 'it differs from the result of its update',
  changed_paths: 'its stored changed paths are not what its update changed',
  credential: 'its status does not follow from the versions',
  chain: 'prev_hash is not the hash of the previous version',
  version_gap: 'the previous version is missing',
  time: 'an impossible time',
  subject: 'the subject and the snapshot have different tenants',
  name: 'lists show another name than the latest version',
  restart: 'a restarted log does not begin with its restart',
  log_key: 'a key of the log was not announced properly',
  owner: 'the owners differ from the changes of owners',
  grant: 'the grant differs from its changes',
  tile: 'a tile is missing or has the wrong width',
  tree: 'a hash does not match the tile below it',
  root: 'the root does not match the tiles',
  checkpoint: 'a stored checkpoint is wrong',
  named: 'a row names a missing version',
  subject_empty: 'a subject has no version',
  tenant: 'a row and its subject have different tenants',
  grant_owner: 'the grantor does not own the subject',
  feed: 'a change feed differs from the log',
  map: 'the map of the log differs from the keys of entries',
  guard: 'the schema differs from the migrations',
} as const satisfies Record<string, string>;
export type CheckName = keyof typeof CHECKS;
const CHECK_NAMES = Object.keys(CHECKS) as CheckName[];

/** A wrong row or hash. */
export interface Finding {
  readonly check: CheckName;
  readonly where: string;
  readonly what: string;
}

/** A valid but unusual row. */
export interface RowNotice {
  readonly where: string;
  readonly what: string;
}

/** Findings and notices: all are counted, and the first ones are listed. Plain data that threads can exchange. */
export interface Found {
  readonly findings: Finding[];
  readonly notices: RowNotice[];
  findingsCount: number;
  noticesCount: number;
  /** Updates whose operations were applied again to the previous version. */
  replayed: number;
  /** Updates with erased data, or that rfc6902 would apply wrongly. */
  unreplayed: number;
  /** Versions whose text is in the archive. */
  archived: number;
  /** Texts that were read from the archive, also the damaged ones. */
  readTexts: number;
  /** Updates whose texts are in the archive. They are replayed only if it is read. */
  archivedUpdates: number;
  /** The number of findings of each kind. */
  readonly countByCheck: Partial<Record<CheckName, number>>;
}

/** Findings with the number of checked entries and snapshots. */
export interface Checked extends Found {
  entries: number;
  snapshots: number;
}

/** The most findings, and notices, that are listed. */
export const MAX_NAMED = 1_000;

export function nothingFound(): Found {
  return {
    findings: [],
    notices: [],
    findingsCount: 0,
    noticesCount: 0,
    replayed: 0,
    unreplayed: 0,
    archived: 0,
    readTexts: 0,
    archivedUpdates: 0,
    countByCheck: {},
  };
}

export function nothingChecked(): Checked {
  return { ...nothingFound(), entries: 0, snapshots: 0 };
}

export function report(found: Found, check: CheckName, where: string, what: string): void {
  found.findingsCount++;
  count(found, check, 1);
  if (found.findings.length < MAX_NAMED) found.findings.push({ check, where, what });
}

export function notice(found: Found, where: string, what: string): void {
  found.noticesCount++;
  if (found.notices.length < MAX_NAMED) found.notices.push({ where, what });
}

export function addFound(all: Found, more: Found): void {
  all.findings.push(...more.findings.slice(0, MAX_NAMED - all.findings.length));
  all.notices.push(...more.notices.slice(0, MAX_NAMED - all.notices.length));
  all.findingsCount += more.findingsCount;
  for (const check of CHECK_NAMES) count(all, check, more.countByCheck[check] ?? 0);
  all.noticesCount += more.noticesCount;
  all.replayed += more.replayed;
  all.unreplayed += more.unreplayed;
  all.archived += more.archived;
  all.readTexts += more.readTexts;
  all.archivedUpdates += more.archivedUpdates;
}

function count({ countByCheck }: Found, check: CheckName, more: number): void {
  if (more > 0) countByCheck[check] = (countByCheck[check] ?? 0) + more;
}
