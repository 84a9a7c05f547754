/** What the parts of `ui/` say. The words of a view stand in a file of its name beside this one. */
export const TEXT = {
  product: 'Identity State',
  loading: 'Loading …',
  failed: 'That did not work.',
  notVerified: 'Not verified.',
  retry: 'Try again',
  requestId: 'Request',
  about: (code: string) => `What ${code} means`,
  more: 'Show more',
  cancel: 'Cancel',
  copy: 'Copy',
  copied: 'Copied',
  refused: 'Not copied: the browser refused',
  copyCurl: 'Copy as curl',
} as const;
