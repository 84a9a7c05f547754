/** Texts of the pages that verify: trust, bundles, proofs, outcomes. */
export const TEXT = {
  title: 'Verify',
  note: 'This page verifies a bundle or a proof in your browser. It sends nothing anywhere and needs no account. Once loaded, it needs no service either.',
  file: 'A bundle or a proof',
  choose: 'Choose a file',
  drop: 'or drop it here',
  kinds:
    'A bundle (.ndjson), a proof (.tlog-proof), or the JSON response of …/log-proof, …/latest-proof, …/absence-proof or …/state-proof.',
  paste: 'Paste it instead',
  pasted: 'Bundle or proof',
  verifyPasted: 'Verify the pasted text',
  pastedName: 'The pasted text',
  entry: 'A proof that does not contain its entry',
  entryLabel: 'The log entry',
  entryHint: 'For a .tlog-proof without extra data: the logged text, byte for byte.',
  under: (name: string) => `Verifying ${name} …`,
  progress: (versions: number, of: number | null) =>
    of === null
      ? `${versions.toLocaleString()} versions`
      : `${versions.toLocaleString()} of ${of.toLocaleString()} versions`,
  stop: 'Stop',
  again: 'Verify again',
  proved: { own: 'Proved', service: 'Consistent with the service’s own keys' },
  refused: 'Refused',
  unreadable: 'Not a proof',
  provedText: {
    own: (name: string) => `${name} is proved by the keys that you trust.`,
    service: (name: string) =>
      `${name} agrees with the keys that this service shows. Only the service vouches for them: use independent keys to prove it.`,
  },
  refusedText: (name: string) => `${name} failed the verification. Do not trust it.`,
  unreadableText: (name: string) => `${name} cannot be read as a bundle or a proof.`,
  where: 'Where',
  line: (line: number) => `Line ${line}`,
  lineOfVersion: (line: number, version: number) => `Line ${line}, version ${version}`,
  why: 'Why',
  held: (lines: number) =>
    lines === 0 ? 'No version before it was verified.' : `The ${lines.toLocaleString()} versions before it hold.`,
  took: (ms: number) =>
    ms < 1_000
      ? `in ${Math.round(ms)} ms`
      : `in ${(ms / 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 })} s`,
  otherFact: (name: string, found: string, expected: string) =>
    `The proof is about another fact: ${name} is ${found}, but must be ${expected}.`,
  noConsistency: (status: number) =>
    `This service did not provide the consistency proof (${status}). iss verify reads one from a file: --since and --proof.`,
  changedFile: 'The file was changed after it was verified. Verify it again.',
  since: 'An older checkpoint that you kept',
  sinceLabel: 'Older checkpoint',
  sinceHint: 'The signed note. The log must extend it; this service provides the proof.',
  showValues: (version: number) => `Show the values of version ${version}`,
  valuesOf: (version: number) => `Values of version ${version}`,
  values: 'Values',
  attribute: 'Attribute',
  value: 'Value',
  unhashed: 'The hash covers the values above. It does not cover these members: only the service vouches for them.',
  unhashedLabel: 'Members outside the hash',
  close: 'Close',
  notProved: 'Not proved',
  report: 'Report',
  copyReport: 'Copy the report as JSON',
  lines: 'Lines',
  version: 'Version',
  written: 'Written',
  entryAt: 'Entry',
  hash: 'Hash of the content',
  outcome: 'Outcome',
  holds: 'holds',
  erased: 'erased, according to the log',
  noKeys: 'No keys yet',
  noKeysText: 'Verification needs keys from a party that you trust.',
} as const;
