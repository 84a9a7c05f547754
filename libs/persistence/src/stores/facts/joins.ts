import { fragmentText } from '../../sql/sql-files';

// Fragments of facts.sql, for statements in TypeScript.
export const NAMED_SUBJECT = fragmentText('named_subject');

export const headVersion = (subjectKey: string): string => fragmentText('head_version', subjectKey);
