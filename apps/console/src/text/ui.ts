/** Texts of the components in `ui/`. The texts of each view are in a file of its name. */
export const TEXT = {
  attributes: 'Attributes',
  attribution: 'Evidence of values',
  evidenceFor: (name: string) => `Evidence for ${name}`,
  product: 'Identity State',
  loading: 'Loading …',
  failed: 'That did not work.',
  notVerified: 'Not verified.',
  erased: (version?: number) =>
    `The content of ${version === undefined ? 'this version' : `version ${version}`} was erased. It was destroyed permanently, on purpose.`,
  retry: 'Try again',
  requestId: 'Request',
  about: (code: string) => `What ${code} means`,
  more: 'Show more',
  rows: (count: number, isWhole: boolean) =>
    isWhole
      ? `${count.toLocaleString()} ${count === 1 ? 'row' : 'rows'}`
      : `${count.toLocaleString()} rows so far; there are more`,
  part: 'Part',
  partOf: (part: number, all: number) => `${part.toLocaleString()} of ${all.toLocaleString()}`,
  previousPart: 'Previous part',
  nextPart: 'Next part',
  findInText: 'Find in the whole text',
  findNext: 'Find next',
  notInText: 'The text does not contain this.',
  you: 'you',
  time: 'Time',
  csv: 'CSV',
  json: 'JSON',
  fileOf: (format: string, caption: string) => `${format}: ${caption}`,
  unknownFilter: (value: string) => `The address has an unknown value, “${value}”. The list ignores it.`,
  cancel: 'Cancel',
  copy: 'Copy',
  copied: 'Copied',
  refused: 'Not copied: the browser refused',
  copyCurl: 'Copy as curl',
} as const;
