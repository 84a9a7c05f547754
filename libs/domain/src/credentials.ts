/** The prefix of a public credential id, before its UUID. */
export const CREDENTIAL_PREFIX = 'cred_';

/** Returns the public id of a credential. The stored id is a bare UUID. */
export function credentialIdOf(uuid: string): string {
  return `${CREDENTIAL_PREFIX}${uuid}`;
}

/** The type (`vct`) of credentials of a version of a subject, or of parts of it. */
export const ENTITY_STATE_VCT = 'urn:identity-state:entity-state:1';

/** The forms in which a credential can be issued. `eddsa-jcs-2022` always has the whole envelope. */
export const CREDENTIAL_FORMATS = ['dc+sd-jwt', 'eddsa-jcs-2022'] as const;
export type CredentialFormat = (typeof CREDENTIAL_FORMATS)[number];

/** The published types of attestations to which a version can be mapped. */
export const CREDENTIAL_PROFILES = ['ownership', 'ubo', 'control', 'company_info'] as const;
export type CredentialProfile = (typeof CREDENTIAL_PROFILES)[number];

const PROFILE_VCTS: Readonly<Record<CredentialProfile, string>> = {
  ownership: 'eu.we-build:ownership:1',
  ubo: 'eu.we-build:ubo:1',
  control: 'eu.we-build:control:1',
  company_info: 'eu.we-build:companyinfo:1',
};

/** Returns the type (`vct`) of a credential with this profile, or without one. */
export function vctOf(profile: CredentialProfile | null): string {
  return profile === null ? ENTITY_STATE_VCT : PROFILE_VCTS[profile];
}

/** `superseded`: the subject has a newer version. `invalid` is final. */
export const CREDENTIAL_STATUSES = ['valid', 'superseded', 'invalid'] as const;
export type CredentialStatus = (typeof CREDENTIAL_STATUSES)[number];

/** Why a credential is invalid. */
export const INVALID_REASONS = ['withdrawn', 'erased', 'key_retired'] as const;
export type InvalidReason = (typeof INVALID_REASONS)[number];

/** The value of each status in a status list (Token Status List, section 7); 3 has the meaning that its issuer gives it. */
export const STATUS_VALUES: Readonly<Record<CredentialStatus, number>> = { valid: 0, invalid: 1, superseded: 3 };

/** Statuses of one list. Many credentials share a list, so that a reader of it does not reveal which one it checks. */
export const STATUS_LIST_SIZE = 2 ** 17;

/** How long a credential may be valid, in seconds. */
export const EXPIRES_IN = { min: 60, max: 31_536_000, default: 2_592_000 } as const;
