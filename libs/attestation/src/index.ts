export * from './attestation-problem';
export * from './credential';
export * from './data-integrity';
export * from './issue';
export * from './issuing-key';
export * from './status-list';
export * from './trusted-issuer';
