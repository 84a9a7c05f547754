import type { api } from '@identity-state/client';

type Profile = NonNullable<api.CreateCredentialOfferBody['profile']>;

export const TEXT = {
  button: 'Offer to a wallet',
  title: (version: number) => `Offer version ${version} to a wallet`,
  note: 'The holder of the wallet gets a signed credential of this version.',
  kind: 'Type',
  view: 'Parts of the version, or all of it',
  profiles: {
    company_info: 'Information about a company (WE BUILD)',
    ownership: 'Owners of a company (WE BUILD)',
    ubo: 'Beneficial owners of a company (WE BUILD)',
    control: 'Parties that control a company (WE BUILD)',
  } satisfies Record<Profile, string>,
  granted: 'It discloses what the grants to your tenant show.',
  days: 'Days that the credential is valid',
  daysFault: 'Enter a whole number from 1 to 365.',
  hasCode: 'Ask for a code when a wallet takes it',
  noCode: 'Without a code, anybody who sees the link can take the credential.',
  submit: 'Offer',
  made: 'The offer is ready',
  once: 'One wallet can take it, once, until',
  link: 'Link',
  copy: 'Copy the link',
  open: 'Open a wallet on this device',
  code: 'Code',
  codeHint: 'Tell the holder the code by another way than the link. It is shown only once.',
  done: 'Done',
} as const;
