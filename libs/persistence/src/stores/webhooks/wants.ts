import { fragmentText } from '../../sql/sql-files';

export const wants = (tenantId: string, eventType: string): string => fragmentText('wants', tenantId, eventType);
