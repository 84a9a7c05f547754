import type { SubjectType } from '@identity-state/client';

export const SUBJECT = {
  subject: 'Subject',
  type: 'Type',
  types: {
    organization: 'Organization',
    individual: 'Individual',
    entity: 'Entity',
  } satisfies Record<SubjectType, string>,
  noGrantsUsed: 'You may not read shared subjects',
  noGrantsUsedText: 'A human account admin of this tenant can allow it: Tenant, Members, counterparty access.',
} as const;
