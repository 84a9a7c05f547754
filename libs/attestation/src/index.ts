export * from './attestation-problem';
export * from './credential';
export * from './status-list';
export * from './trusted-issuer';
