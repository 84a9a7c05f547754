/** The prefix of a public attestation id, before its UUID. */
export const ATTESTATION_PREFIX = 'att_';

/** Returns the public id of an attestation. The stored id is a bare UUID. */
export function attestationIdOf(uuid: string): string {
  return `${ATTESTATION_PREFIX}${uuid}`;
}

/** The `evidence_type` of evidence that an attestation backs. Its `locator` is the id of the attestation. */
export const ATTESTATION_EVIDENCE = 'attestation';

/**
 * The state of an attestation. `none`: it cannot be revoked. `pending`: its status was not read yet. `other`: a status
 * whose meaning only the issuer knows.
 */
export const ATTESTATION_STATUSES = ['none', 'pending', 'valid', 'suspended', 'revoked', 'other'] as const;
export type AttestationStatus = (typeof ATTESTATION_STATUSES)[number];

/** By the value in a status list (Token Status List, section 7). */
const BY_VALUE: readonly AttestationStatus[] = ['valid', 'revoked', 'suspended'];

export function attestationStatusOf(value: number): AttestationStatus {
  return BY_VALUE[value] ?? 'other';
}
