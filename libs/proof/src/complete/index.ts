export { verifyMapAnswer } from './answer';
export { type MapTrust, proveNewest } from './newest';
export { type NewestAnswer, type NewestEvidence, proveNewestVersion } from './newest-step';
