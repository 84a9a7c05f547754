import type { AccessRule } from '@iss/domain';

/** What each operation demands of its caller: specification "Roles" and the contract's scope table, as data. */
export const RULES = {
  submitFirstState: { role: 'tenant_editor' },
  submitLaterState: { role: 'tenant_editor', subject: 'owner' },
  proposeUpdate: { role: 'tenant_proposer', subject: 'owner' },
  applyUpdate: { role: 'tenant_editor', subject: 'owner' },
  readLatest: { role: 'tenant_reader', subject: ['read_latest'] },
  readVersion: { role: 'tenant_reader', subject: ['read_snapshot_by_id', 'read_lineage'] },
  readById: { role: 'tenant_reader', subject: ['read_snapshot_by_id'] },
  manageGrants: { role: 'tenant_admin', subject: 'owner' },
  manageMembers: { role: 'tenant_admin' },
  readMembers: { role: 'tenant_reader' },
  useWebhooks: { role: 'tenant_reader' },
} as const satisfies Record<string, AccessRule>;
