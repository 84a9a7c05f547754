import { fragmentText } from '../../sql/sql-files';

export const LIVE_GRANTS_ON = (subjectKey: string, owner: string): string =>
  fragmentText('live_grants_on', subjectKey, owner);
