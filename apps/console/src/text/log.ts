/** Words of the page about the transparency log. */
export const TEXT = {
  title: 'Transparency log',
  note: 'One tree of hashes for all that was written here. One old checkpoint is enough to show that an entry was changed since.',
  newest: 'Newest checkpoint',
  entries: 'Entries',
  root: 'Root',
  origin: 'Log',
  lookAgain: 'Look again',
  copyNote: 'Copy the note',
  showNote: 'The note as it was signed',
  signatures: 'Signatures of the checkpoint',
  signer: 'Key',
  role: 'Whose',
  roles: { log: 'the log’s', witness: 'a witness’s', unknown: 'unknown' },
  signed: 'Signed',
  noTime: 'no time in it',
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
    own: 'It satisfies the keys that you trust.',
    service: 'It satisfies the keys that this service shows. Use independent keys to prove it.',
  },
  growth: 'Growth',
  growthText: (size: string, points: number) =>
    `${size} entries now. Plotted from ${points.toLocaleString()} entries that concern this tenant, each at the time when it was stored.`,
  growthNone: 'No entry of the log concerns this tenant yet.',
  growthTable: 'The same as a table',
  growthTitle: 'Entries of the log over time',
  time: 'Time',
  size: 'Entries',
  grown: 'Seen before by this browser',
  grownFirst: (size: string) =>
    `This browser keeps this checkpoint, of ${size} entries, from now on. The log must extend it later.`,
  grownSame: (size: string) => `The log shows the tree of ${size} entries that this browser kept.`,
  grownTo: (from: string, to: string) =>
    `The tree of ${to} entries begins with that of ${from}, which this browser kept: nothing of it was changed.`,
  kept: 'It is kept now.',
  evidence: 'Both checkpoints are signed: keep them, they are evidence.',
  takeEvidence: 'Download both',
  evidenceName: 'checkpoints.txt',
  keys: 'Keys and policy',
  keysText: 'The service’s own word about its keys. To check it, take the keys from an independent party and compare.',
  key: 'Verifier key',
  from: 'Since',
  until: 'Until',
  announced: 'announced',
  stillSigns: 'signs',
  witnesses: 'Witnesses',
  noWitnesses: 'This log has no witnesses: nobody but itself vouches for it.',
  quorum: (count: number, of: number) => `${count} of ${of} at least cosign each checkpoint that is shown.`,
  policy: 'Policy (C2SP tlog-policy)',
  copyPolicy: 'Copy the policy',
  copyKey: 'Copy',
  check: 'Verify this',
  checkText: 'The id of a snapshot, or the place of an entry that concerns this tenant.',
  what: 'Snapshot id or log index',
  whatHint: 'As 5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10, or 42.',
  verify: 'Verify',
  neither: 'That is neither the id of a snapshot nor a whole number.',
  notYours: (index: number) =>
    `Entry ${index} concerns another tenant, or is not there: who may not read a fact is not given its entry.`,
  proofName: (what: string) => `The proof of ${what}`,
  openProof: 'Step by step, with its content',
} as const;
