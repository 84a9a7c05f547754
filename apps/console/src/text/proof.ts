/** Words of the proof of a version, step by step. */
export const TEXT = {
  title: (version: number) => `Proof of version ${version}`,
  note: 'This browser recomputes what the service says, from the content up to the witnesses. Each step says what it proves.',
  version: 'Version',
  versionOption: (version: number, effective: string, written: string) =>
    `${version} · effective ${effective} · written ${written}`,
  older: (version: number) => `${version} · older`,
  before: 'Version before',
  after: 'Version after',
  latest: 'The latest',
  summary: 'Outcome',
  allHold: 'Everything that can be recomputed here holds.',
  someOpen: (open: number) => `What was recomputed holds; ${open === 1 ? 'one step is' : `${open} steps are`} open.`,
  fails: (count: number) =>
    `${count === 1 ? 'One step does' : `${count} steps do`} not hold: this version must not be believed.`,
  states: { holds: 'holds', fails: 'does not hold', open: 'open' },
  working: 'Recomputing …',
  inputs: 'Inputs',
  bundle: 'Every version',
  bundleText:
    'The bundle has every version with its proof. It is verified here line by line, and can be downloaded: iss verify and the page Verify need no service for it.',
  verifyAll: 'Verify every version',
  take: 'Download bundle',
  fetching: (lines: number) => `Fetching: ${lines.toLocaleString()} lines`,
  bundleName: (id: string) => `${id}.bundle.ndjson`,
  takeProof: 'Download proof',
  proofName: (id: string, version: number) => `${id}.v${version}.log-proof.json`,
  keep: 'Keep the checkpoint',
  steps: {
    content: {
      title: 'The content has its hash',
      proves: 'The content is byte for byte that of the hash, and it names this version of this subject.',
    },
    chain: {
      title: 'It follows the version before',
      proves: 'The version before cannot be exchanged without changing this one.',
    },
    entry: {
      title: 'The log’s entry is about this version',
      proves: 'The entry names this hash, this version, this subject and the time when the service stored it.',
    },
    inclusion: {
      title: 'The entry is in the tree',
      proves: 'The entry stands at its place under the root: it cannot be taken out or moved without another root.',
    },
    checkpoint: {
      title: 'The log signed the root',
      proves: 'The key that you trust signed this root and this size: the log cannot deny that it said so.',
    },
    witnesses: {
      title: 'Witnesses saw the same log',
      proves: 'Others who keep what they saw had the proof that the log only grew: it would need them to lie too.',
    },
    consistency: {
      title: 'The log extends the checkpoint that this browser saw before',
      proves: 'Nothing that the log showed this browser earlier was changed or dropped since.',
    },
  },
  inputNames: {
    canonical: 'Canonical text (RFC 8785)',
    computed: 'SHA-256 of it, computed here',
    claimed: 'Hash that the service says',
    previousHash: 'Hash of the version before, computed here',
    prevHash: 'Hash that this version names',
    entry: 'Entry, as it was logged',
    leaf: 'Leaf: SHA-256 of 0x00 and the entry',
    index: 'Place in the log',
    path: 'Hashes from the leaf to the root',
    root: 'Root, as in the checkpoint',
    size: 'Entries of the tree',
    note: 'Checkpoint, as it was signed',
    keys: 'Keys of the log that you trust',
    signedBy: 'Signed by',
    witnessKeys: 'Witnesses that you trust',
    cosignedBy: 'Cosigned by',
    kept: 'Checkpoint that this browser kept',
    consistency: 'Hashes of the consistency proof',
  },
  contentHolds: 'Computed here and said by the service, the two hashes are the same.',
  contentDiffers: 'The content has another hash than the service says: it was changed after it was written.',
  erased: 'The content was erased on purpose. Its place is proved by the bundle; what it said cannot be any more.',
  unhashed: 'There is no hash: it was imported without one, and nothing of it can be verified.',
  says: (what: string, found: string, expected: string) => `${what} is ${found}, and has to be ${expected}.`,
  first: 'It is the first version and names none before it.',
  chainHolds: (version: number) => `The content of version ${version} has the hash that this version names.`,
  chainOfErased: (version: number) =>
    `Version ${version} was erased. The service says the hash that this version names, and nobody can recompute it.`,
  twoClaims: 'Without the content, this compares two claims of the service.',
  erasureHolds: (index: number, at: string) =>
    `The log says that entry ${index.toLocaleString()} of this subject was erased at ${at}. The service says that it was this version.`,
  erasureNames: (index: number, written: string, at: string) =>
    `The log names this version: entry ${index.toLocaleString()}, stored at ${written} and erased at ${at}.`,
  otherErasure: (index: number) => `The entry of the erasure does not name entry ${index.toLocaleString()}.`,
  inclusionOfErased: (index: number, size: number) =>
    `The hash of entry ${index.toLocaleString()} and the entry of its erasure are both in the tree of ${size.toLocaleString()} entries.`,
  chainDiffers: (version: number) =>
    `The content of version ${version}, as it is shown now, has another hash than this version names.`,
  notRead: (version: number, why: string) => `Version ${version} could not be read: ${why}`,
  entryHolds: (at: string, tenant: string) =>
    `It was stored at ${at}, for the tenant ${tenant}, by the service’s own clock.`,
  entryText: 'The entry is not RFC 8785 text.',
  proofNotShared: 'Your grant does not let you read single versions by id, which proofs need.',
  noProof: (why: string) => `There is no proof of the log: ${why}`,
  inclusionHolds: (index: number, size: number) =>
    `From entry ${index.toLocaleString()} the hashes lead to the root of ${size.toLocaleString()} entries.`,
  noCheckpoint: 'The answer has no checkpoint: that size is no longer signed.',
  checkpointHolds: (origin: string) => `${origin} signed it.`,
  caveat: 'These keys come from the service being checked. Use independent keys to close this step.',
  signedAt: (key: string, at: string | null) => (at === null ? key : `${key}, at ${at}`),
  noWitness: 'The keys that you trust name no witness: nobody but the log vouches for it.',
  witnessesHold: (count: number) => `${count === 1 ? 'One witness' : `${count} witnesses`} that you trust cosigned it.`,
  nothingKept:
    'This browser had seen no checkpoint of this log before. It keeps this one: the next look is compared with it.',
  same: (size: number) => `It is the tree of ${size.toLocaleString()} entries that this browser kept.`,
  goesOn: (older: number, newer: number) =>
    `The tree of ${newer.toLocaleString()} entries begins with that of ${older.toLocaleString()}.`,
  twoHistories: (size: number) =>
    `The log shows two trees of ${size.toLocaleString()} entries. Keep both checkpoints: together they prove it.`,
  noConsistency: (why: string) => `The log did not prove that it goes on: ${why}`,
  keptUnreadable: (why: string) => `What this browser kept cannot be verified by the keys that you trust: ${why}`,
} as const;
