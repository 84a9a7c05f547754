import { DIFFS } from './snapshots/diffs';
import { ENTITY_STATES, LEGACY_ENTITY_STATES } from './snapshots/entity-states';
import { UPDATES } from './snapshots/updates';
import { SNAPSHOTS } from './snapshots/snapshots';
import { EXPORTS, LINEAGE } from './snapshots/lineage';
import { PROVENANCE_READS } from './snapshots/provenance';
import { TENANTS } from './tenancy/tenants';
import { MEMBERS, MEMBERSHIPS } from './tenancy/members';
import { SUBJECTS } from './tenancy/subjects';
import { TRANSFER_OFFERS } from './tenancy/transfer-offers';
import { GRANTS } from './sharing/grants';
import { ACCESSIBLE_SUBJECTS } from './sharing/accessible-subjects';
import { PENDING_GRANTS } from './sharing/pending-grants';
import { CHANGE_FEED } from './events/changes';
import { ERASURES, TENANT_ERASURES } from './erasures';
import { REFRESH_REQUESTS, TENANT_REFRESH_REQUESTS } from './sharing/refresh-requests';
import { WEBHOOK_SUBSCRIPTIONS } from './events/webhook-subscriptions';
import { DELIVERIES } from './events/deliveries';
import { LOG } from './log/log';
import { LOG_PROOFS } from './log/log-proofs';
import { MAP_PROOFS } from './log/map-proofs';
import { HISTORIES } from './log/histories';
import { DISCLOSURES } from './sharing/disclosures';
import { AUDIT } from './tenancy/audit';
import { SYSTEM } from './system';
import { ATTESTATIONS } from './attestations/attestations';
import { CREDENTIALS, STATUS_LISTS } from './credentials/credentials';
import { ISSUERS, ISSUING_KEYS } from './credentials/issuing-keys';
import { CREDENTIAL_OFFERS, WALLET } from './credentials/offers';
import { PRESENTATION_REQUESTS, PRESENTATIONS } from './attestations/presentations';
import { TRUSTED_ISSUERS } from './attestations/trusted-issuers';
import type { Operation } from './describe/operation';

/** Every operation of the service by id, in the order of the document. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...DIFFS,
  ...ENTITY_STATES,
  ...UPDATES,
  ...SNAPSHOTS,
  ...LINEAGE,
  ...EXPORTS,
  ...PROVENANCE_READS,
  ...LEGACY_ENTITY_STATES,
  ...TENANTS,
  ...MEMBERS,
  ...MEMBERSHIPS,
  ...SUBJECTS,
  ...TRANSFER_OFFERS,
  ...GRANTS,
  ...ACCESSIBLE_SUBJECTS,
  ...PENDING_GRANTS,
  ...CHANGE_FEED,
  ...ERASURES,
  ...TENANT_ERASURES,
  ...REFRESH_REQUESTS,
  ...TENANT_REFRESH_REQUESTS,
  ...TRUSTED_ISSUERS,
  ...ATTESTATIONS,
  ...PRESENTATION_REQUESTS,
  ...ISSUING_KEYS,
  ...CREDENTIALS,
  ...CREDENTIAL_OFFERS,
  ...STATUS_LISTS,
  ...ISSUERS,
  ...WALLET,
  ...PRESENTATIONS,
  ...WEBHOOK_SUBSCRIPTIONS,
  ...DELIVERIES,
  ...LOG,
  ...LOG_PROOFS,
  ...MAP_PROOFS,
  ...HISTORIES,
  ...DISCLOSURES,
  ...AUDIT,
  ...SYSTEM,
};
