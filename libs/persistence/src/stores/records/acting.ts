import type { Acting } from '@iss/domain';
import { fragmentText } from '../../sql/sql-files';

/** The acting principal and its request: the parameters of {@link ACTING}. */
export type ActedBy = Pick<Acting, 'principalId' | 'requestId'>;

export const ACTING = fragmentText('acting');
