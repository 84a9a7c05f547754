import type { Acting } from '@iss/domain';

/** The acting principal and its request: the parameters of the fragment `acting` (facts.sql). */
export type ActedBy = Pick<Acting, 'principalId' | 'requestId'>;
