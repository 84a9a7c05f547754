/** The prefix of a public credential id, before its UUID. */
export const CREDENTIAL_PREFIX = 'cred_';

/** Returns the public id of a credential. The stored id is a bare UUID. */
export function credentialIdOf(uuid: string): string {
  return `${CREDENTIAL_PREFIX}${uuid}`;
}

/** The type (`vct`) of every credential that the service issues: a version of a subject, or parts of it. */
export const ENTITY_STATE_VCT = 'urn:identity-state:entity-state:1';

/** The forms in which a credential can be issued. `eddsa-jcs-2022` always has the whole envelope. */
export const CREDENTIAL_FORMATS = ['dc+sd-jwt', 'eddsa-jcs-2022'] as const;
export type CredentialFormat = (typeof CREDENTIAL_FORMATS)[number];

/** The published types of attestations to which a version can be mapped. */
export const CREDENTIAL_PROFILES = ['ownership', 'ubo', 'control', 'company_info'] as const;
export type CredentialProfile = (typeof CREDENTIAL_PROFILES)[number];

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
