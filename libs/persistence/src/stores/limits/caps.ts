import { type CapName, CAPS } from '@iss/platform';
import { fragmentText } from '../../sql/sql-files';

// Fragments, for statements in TypeScript.
export const capOf = (name: CapName, id: string): string => fragmentText('cap_of', CAPS[name].scope, name, id);

export const countUpTo = (most: string, rows: string): string => fragmentText('count_up_to', most, rows);
