/** Texts of trusted keys and of the choice of a version. */
export const TEXT = {
  trust: 'Trusted keys',
  own: 'Your own keys',
  ofService: 'The keys that this service shows',
  ownText: 'This browser keeps them. The console uses them wherever it verifies.',
  ofServiceText:
    'These keys come from the service being checked; use independent ones. An auditor, a colleague or the operator’s contract can give you a policy to paste here.',
  usePolicy: 'Use keys of my own',
  changePolicy: 'Change',
  forget: 'Remove them',
  save: 'Trust these keys',
  cancel: 'Cancel',
  policyLabel: 'Policy or key',
  policyHint:
    'A policy (C2SP tlog-policy: lines log, witness, group, quorum, vrf), or the verifier key of a log alone.',
  logs: (names: readonly string[]) => `Log: ${names.join(', ')}`,
  witnesses: (names: readonly string[], quorum: string) =>
    names.length === 0 ? 'No witness is required.' : `Witnesses: ${names.join(', ')}. ${quorum}`,
  quorum: (count: number) => `At least ${count} must have cosigned.`,
  vrfKey: {
    own: (key: string) => `Key of the map, from your policy: ${key}`,
    service: (key: string) => `Key of the map, from this service: ${key}`,
  },
  noVrfKey: 'Your policy has no key of the map (a line vrf VRF+…), so it cannot prove which version is the newest.',
  noKeysText: 'Verification needs keys from a party that you trust.',
  correction: 'Corrects an error',
  versionOption: (version: number, effective: string, written: string, isCorrection: boolean) =>
    `${version} · effective ${effective} · written ${written}${isCorrection ? ' · correction' : ''}`,
  older: (version: number) => `${version} · older`,
  before: 'Previous version',
  after: 'Next version',
} as const;
