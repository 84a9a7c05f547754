/** Texts of the proof of a version. */
export const TEXT = {
  title: (version: number) => `Proof of version ${version}`,
  note: 'This browser recomputes the claims of the service, from the content to the witnesses. Each step states what it proves.',
  version: 'Version',
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
  proofNotShared: 'Proofs need a grant with the scope read_snapshot_by_id, which you do not have.',
} as const;
