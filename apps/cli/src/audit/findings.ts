/** What an audit can find. */
export const CHECKS = {
  entry_missing: 'the tree has a hash here, and there is no entry',
  entry_beyond: 'an entry beyond the size of the tree',
  fact_missing: 'an entry whose fact is gone',
  entry_type: 'an entry of a type that is not known',
  leaf: 'what the tables say is not what was logged',
  not_logged: 'a fact that has no entry and waits for none',
  envelope_hash: 'the envelope does not hash to envelope_hash',
  erased: 'content is gone, and the log does not say that it was erased',
  not_erased: 'the log says that it was erased, and content of it is there',
  not_canonical: 'the envelope is not RFC 8785 text',
  envelope_ids: 'the envelope is of another snapshot than its row',
  patch: 'it is not what the operations of its update make of the version before',
  chain: 'prev_hash is not the envelope_hash of the version before',
  version_gap: 'the version before is not there',
  time: 'a time that cannot be',
  subject: 'the subject is not that of the snapshot',
  restart: 'a log that was begun anew does not begin with saying so',
  log_key: 'a key of the log that was not announced as it has to be',
  owner: 'who owns the tenant is not what the changes of owners say',
  grant: 'what a grant gives is not what its changes say',
  tile: 'a tile is missing, or has another width',
  tree: 'a hash is not that of the tile below it',
  root: 'the root is not that of the tiles',
  checkpoint: 'a stored checkpoint does not hold',
  named: 'something names a version that is not there',
  subject_empty: 'a subject without a version',
  tenant: 'a row is of another tenant than its subject',
  grant_owner: 'a grant of what its grantor does not own',
  guard: 'a guard of the schema is not as the migrations leave it',
} as const satisfies Record<string, string>;
export type CheckName = keyof typeof CHECKS;
const CHECK_NAMES = Object.keys(CHECKS) as CheckName[];

/** One row, or one hash, that is not as it has to be. */
export interface Finding {
  readonly check: CheckName;
  /** Which one. */
  readonly where: string;
  /** What is wrong with it. */
  readonly what: string;
}

/** What is not wrong, and worth a look. */
export interface Notice {
  readonly where: string;
  readonly what: string;
}

/** What was found, all of it counted and the first of it kept; plain data, so that threads can hand it on. */
export interface Found {
  readonly findings: Finding[];
  readonly notices: Notice[];
  findingsCount: number;
  noticesCount: number;
  /** Updates whose operations were applied again to the version before. */
  replayed: number;
  /** Updates of which something is erased, or which rfc6902 would apply wrongly. */
  unreplayed: number;
  /** All findings, by their check. */
  readonly countByCheck: Partial<Record<CheckName, number>>;
}

/** What was found in entries or snapshots, and how many of them were looked at. */
export interface Checked extends Found {
  entries: number;
  snapshots: number;
}

/** Rows that a report names; all are counted. */
export const MAX_NAMED = 1_000;

export function nothingFound(): Found {
  return { findings: [], notices: [], findingsCount: 0, noticesCount: 0, replayed: 0, unreplayed: 0, countByCheck: {} };
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
}

function count({ countByCheck }: Found, check: CheckName, more: number): void {
  if (more > 0) countByCheck[check] = (countByCheck[check] ?? 0) + more;
}
