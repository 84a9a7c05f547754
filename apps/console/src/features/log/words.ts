/** Texts of the page about the transparency log. */
export const TEXT = {
  title: 'Transparency log',
  note: 'A hash tree of all facts that this service stored. One older checkpoint is enough to detect a changed entry.',
  newest: 'Newest checkpoint',
  entries: 'Entries',
  root: 'Root',
  origin: 'Log',
  lookAgain: 'Refresh',
  copyNote: 'Copy the note',
  showNote: 'The signed note',
  signatures: 'Signatures of the checkpoint',
  signer: 'Key',
  role: 'Signer',
  roles: { log: 'the log', witness: 'a witness', unknown: 'unknown' },
  signed: 'Signed',
  noTime: 'no time stated',
  age: 'Age',
  ageOf: (seconds: number) =>
    seconds < 90
      ? `${seconds} s`
      : seconds < 5_400
        ? `${Math.round(seconds / 60)} min`
        : seconds < 129_600
          ? `${Math.round(seconds / 3_600)} h`
          : `${Math.round(seconds / 86_400)} days`,
  outcome: 'Outcome',
  verified: 'verified',
  notVerified: 'does not verify',
  notKnown: 'not checked',
  holds: {
    own: 'Its signatures satisfy the keys that you trust.',
    service: 'Its signatures satisfy the keys that this service shows. Use independent keys to prove it.',
  },
  growth: 'Growth',
  growthText: (size: string, points: number) =>
    `${size} entries now. The plot uses ${points.toLocaleString()} entries that concern this tenant, each at the time when it was stored.`,
  growthNone: 'No entry of the log concerns this tenant yet.',
  growthTable: 'Show as a table',
  growthTitle: 'Entries of the log over time',
  time: 'Time',
  size: 'Entries',
  grownFirst: (size: string) =>
    `This browser now keeps this checkpoint of ${size} entries. Later checkpoints must extend it.`,
  grownSame: (size: string) => `The log still shows the tree of ${size} entries that this browser kept.`,
  grownTo: (from: string, to: string) =>
    `The log grew to ${to} entries. The first ${from} entries, whose checkpoint this browser kept, are unchanged.`,
  evidence: 'Both checkpoints are signed. Keep them as evidence.',
  takeEvidence: 'Download both',
  evidenceName: 'checkpoints.txt',
  keys: 'Keys and policy',
  keysText: 'The service states these keys itself. To check them, get the keys from an independent party and compare.',
  key: 'Verifier key',
  from: 'Since',
  until: 'Until',
  announced: 'announced',
  stillSigns: 'still in use',
  witnesses: 'Witnesses',
  noWitnesses: 'This log has no witnesses. Only the log itself vouches for it.',
  quorum: (count: number, of: number) => `At least ${count} of ${of} witnesses cosign each checkpoint that is shown.`,
  policy: 'Policy (C2SP tlog-policy)',
  copyPolicy: 'Copy the policy',
  check: 'Verify an entry',
  checkText: 'Enter the id of a snapshot, or the log index of an entry that concerns this tenant.',
  what: 'Snapshot id or log index',
  whatHint: 'For example 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10, or 42.',
  verify: 'Verify',
  neither: 'This is neither the id of a snapshot nor a whole number.',
  notYours: (index: number) =>
    `Entry ${index} does not exist or concerns another tenant. Only a tenant that may read a fact can get its entry.`,
  proofName: (what: string) => `The proof of ${what}`,
  erasureNotLogged: 'The log does not have the erasure yet. Verify again in a few seconds.',
  openProof: 'Show the proof step by step, with the content',
} as const;
