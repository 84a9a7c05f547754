/** Texts of the proof of a version. */
export const TEXT = {
  title: (version: number) => `Proof of version ${version}`,
  note: 'This browser recomputes the claims of the service, from the content to the witnesses. Each step states what it proves.',
  version: 'Version',
  versionOption: (version: number, effective: string, written: string) =>
    `${version} · effective ${effective} · written ${written}`,
  older: (version: number) => `${version} · older`,
  before: 'Previous version',
  after: 'Next version',
  latest: 'Latest version',
  summary: 'Outcome',
  allHold: 'Everything that can be recomputed here holds.',
  someOpen: (open: number) => `The recomputed steps hold; ${open === 1 ? 'one step is' : `${open} steps are`} open.`,
  fails: (count: number) =>
    `${count === 1 ? 'One step does' : `${count} steps do`} not hold: do not trust this version.`,
  states: { holds: 'holds', fails: 'does not hold', open: 'open' },
  working: 'Recomputing …',
  inputs: 'Inputs',
  bundle: 'Every version',
  bundleText:
    'The bundle contains every version with its proof. This page verifies it line by line, and you can download it. iss verify and the Verify page check it without the service.',
  verifyAll: 'Verify every version',
  take: 'Download bundle',
  fetching: (lines: number) => `Fetching: ${lines.toLocaleString()} lines`,
  bundleName: (id: string) => `${id}.bundle.ndjson`,
  takeProof: 'Download proof',
  proofName: (id: string, version: number) => `${id}.v${version}.log-proof.json`,
  keep: 'Keep the checkpoint',
  steps: {
    content: {
      title: 'The content matches its hash',
      proves: 'The content matches the hash byte for byte, and names this version of this subject.',
    },
    chain: {
      title: 'It follows the previous version',
      proves: 'Nobody can replace the previous version without changing this one.',
    },
    entry: {
      title: 'The log entry is about this version',
      proves: 'The entry names this hash, this version, this subject and the time when the service stored it.',
    },
    inclusion: {
      title: 'The entry is in the tree',
      proves: 'The root covers the entry at its index. Removing or moving the entry would change the root.',
    },
    checkpoint: {
      title: 'The log signed the root',
      proves: 'A key that you trust signed this root and this size. The log cannot deny it.',
    },
    witnesses: {
      title: 'Witnesses saw the same log',
      proves: 'Independent parties checked that the log only grew. To deceive you, they would have to lie too.',
    },
    consistency: {
      title: 'The log extends the checkpoint that this browser kept',
      proves: 'Nothing that the log showed this browser before was changed or removed.',
    },
  },
  inputNames: {
    canonical: 'Canonical text (RFC 8785)',
    computed: 'SHA-256 of the text, computed here',
    claimed: 'Hash that the service states',
    previousHash: 'Hash of the previous version, computed here',
    prevHash: 'Previous hash that this version names',
    entry: 'Log entry',
    leaf: 'Leaf: SHA-256 of 0x00 and the entry',
    index: 'Log index',
    path: 'Hashes from the leaf to the root',
    root: 'Root in the checkpoint',
    size: 'Entries in the tree',
    note: 'Signed checkpoint',
    keys: 'Keys of the log that you trust',
    signedBy: 'Signed by',
    witnessKeys: 'Witnesses that you trust',
    cosignedBy: 'Cosigned by',
    kept: 'Checkpoint that this browser kept',
    consistency: 'Hashes of the consistency proof',
  },
  contentHolds: 'The hash computed here equals the hash that the service states.',
  contentDiffers:
    'The hash computed here is not the hash that the service states: the content was changed after it was written.',
  erased:
    'The content was erased on purpose. The bundle proves its place in the chain. The content itself can no longer be proved.',
  unhashed: 'This version was imported without a hash, so nothing about it can be verified.',
  says: (what: string, found: string, expected: string) => `${what} is ${found}, but must be ${expected}.`,
  first: 'This is the first version. It names no previous version.',
  chainHolds: (version: number) => `The content of version ${version} has the hash that this version names.`,
  chainOfErased: (version: number) =>
    `Version ${version} was erased. The service states the hash that this version names, and nobody can recompute it.`,
  twoClaims: 'Without the content, this compares two claims of the service.',
  erasureHolds: (index: number, at: string) =>
    `The log states that entry ${index.toLocaleString()} of this subject was erased at ${at}. Only the service states that it was this version.`,
  erasureNames: (index: number, written: string, at: string) =>
    `The log names this version: entry ${index.toLocaleString()}, stored at ${written} and erased at ${at}.`,
  otherErasure: (index: number) => `The entry of the erasure does not name entry ${index.toLocaleString()}.`,
  inclusionOfErased: (index: number, size: number) =>
    `The hash of entry ${index.toLocaleString()} and the entry of its erasure are both in the tree of ${size.toLocaleString()} entries.`,
  chainDiffers: (version: number) =>
    `The content that the service shows for version ${version} does not have the hash that this version names.`,
  notRead: (version: number, why: string) => `Version ${version} could not be read: ${why}`,
  entryHolds: (at: string, tenant: string) =>
    `The service stored it for the tenant ${tenant} at ${at}, by its own clock.`,
  entryText: 'The entry is not in canonical form (RFC 8785).',
  proofNotShared: 'Proofs need a grant with the scope read_snapshot_by_id, which you do not have.',
  noProof: (why: string) => `There is no proof from the log: ${why}`,
  inclusionHolds: (index: number, size: number) =>
    `The hashes lead from entry ${index.toLocaleString()} to the root of ${size.toLocaleString()} entries.`,
  noCheckpoint: 'The response has no checkpoint: the log no longer signs that size.',
  checkpointHolds: (origin: string) => `${origin} signed it.`,
  caveat: 'These keys come from the service being checked. Use independent keys to close this step.',
  signedAt: (key: string, at: string | null) => (at === null ? key : `${key}, at ${at}`),
  noWitness: 'The keys that you trust name no witness. Only the log vouches for it.',
  witnessesHold: (count: number) => `${count === 1 ? 'One witness' : `${count} witnesses`} that you trust cosigned it.`,
  nothingKept:
    'This browser had kept no checkpoint of this log. It now keeps this one, and compares the next one with it.',
  same: (size: number) => `It is the same tree of ${size.toLocaleString()} entries that this browser kept.`,
  goesOn: (older: number, newer: number) =>
    `The tree of ${newer.toLocaleString()} entries extends the tree of ${older.toLocaleString()} entries.`,
  twoHistories: (size: number) =>
    `The log shows two different trees of ${size.toLocaleString()} entries. Keep both checkpoints: together they prove it.`,
  noConsistency: (why: string) => `The log did not prove that it extends the kept checkpoint: ${why}`,
  keptUnreadable: (why: string) =>
    `The keys that you trust cannot verify the checkpoint that this browser kept: ${why}`,
} as const;
