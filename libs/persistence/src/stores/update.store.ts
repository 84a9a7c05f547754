import type { AccessFacts } from '@iss/domain';
import { rolesFrom } from '@iss/domain';
import { Coalescer } from '../coalescer';
import { inputArrays, type InputColumns, inputRows, type Sql, statement } from '../sql';
import { ACCESS_COLUMNS, type AccessFactsRow, TENANT_ACCESS, toAccessFacts } from './access-facts';
import type { Reader, SubjectRef } from './snapshot-read.store';

export const UPDATE_STATUSES = ['proposed', 'applied', 'withdrawn'] as const;
export type UpdateStatus = (typeof UPDATE_STATUSES)[number];

/** A proposal as it is to be stored. `patchOps` is canonical JSON text. */
export interface UpdateToPropose extends SubjectRef {
  updateId: string;
  tenantId: string;
  principalId: string;
  baseSnapshotId: string;
  baseSnapshotVersion: number;
  patchOps: string;
  requestId: string | null;
  initiatedBy: string | null;
}

/** A stored proposal. */
export interface UpdateRecord extends SubjectRef {
  updateId: string;
  tenantId: string;
  baseSnapshotId: string;
  baseSnapshotVersion: number;
  patchOps: string;
  status: UpdateStatus;
  requestId: string | null;
  initiatedBy: string | null;
  proposedBy: string;
  createdAt: Date;
  appliedAt: Date | null;
  appliedSnapshotId: string | null;
}

export type ProposeOutcome =
  | { kind: 'proposed' | 'existing'; update: UpdateRecord }
  | { kind: 'refused'; facts: AccessFacts; headVersion: number | null };

/** A proposal with what applying it needs. `update` is null when the tenant has none with this id. */
export interface UpdateToApply {
  facts: AccessFacts;
  update: UpdateRecord | null;
  /** Version of the subject's newest snapshot. */
  headVersion: number | null;
  base: { envelope: string; envelopeHash: string | null } | null;
  chainEnforced: boolean;
}

interface UpdateColumnsRow {
  update_id: string | null;
  update_tenant_id: string;
  subject_type: string;
  subject_id: string;
  base_snapshot_id: string;
  base_snapshot_version: number;
  patch_ops: string;
  status: UpdateStatus;
  request_id: string | null;
  initiated_by: string | null;
  proposed_by: string;
  update_created_at: Date;
  applied_at: Date | null;
  applied_snapshot_id: string | null;
}

const UPDATE_COLUMNS = `u.update_id, u.tenant_id AS update_tenant_id, s.subject_type, s.subject_id, u.base_snapshot_id,
  u.base_snapshot_version, u.patch_ops, u.status, u.request_id, u.initiated_by, u.proposed_by,
  u.created_at AS update_created_at, u.applied_at, u.applied_snapshot_id`;

const HEAD_VERSION = `(SELECT n.snapshot_version FROM snapshots n WHERE n.subject_key = s.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) AS head_version`;

const PROPOSE_COLUMNS = {
  update_id: 'uuid',
  tenant_id: 'text',
  principal_id: 'text',
  subject_type: 'text',
  subject_id: 'text',
  base_snapshot_id: 'uuid',
  base_snapshot_version: 'int',
  patch_ops: 'text',
  request_id: 'text',
  initiated_by: 'text',
} as const satisfies InputColumns;

const PROPOSERS = rolesFrom('tenant_proposer')
  .map((role) => `'${role}'`)
  .join(', ');

interface ProposeRow extends AccessFactsRow {
  head_version: number | null;
  created_at: Date | null;
}

const PROPOSE = statement<ProposeRow>(
  'update_propose',
  `WITH facts AS MATERIALIZED (
  SELECT i.*, ${ACCESS_COLUMNS}, s.subject_key, ${HEAD_VERSION}
    FROM ${inputRows(PROPOSE_COLUMNS)}
    LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
    ${TENANT_ACCESS}
   ORDER BY i.tenant_id, i.request_id
),
inserted AS (
  INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops,
                       request_id, initiated_by, proposed_by)
  SELECT update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops,
         request_id, initiated_by, principal_id
    FROM facts
   WHERE member_status = 'active' AND role IN (${PROPOSERS}) AND owns_subject
     AND head_version = base_snapshot_version
  ON CONFLICT ON CONSTRAINT updates_request_key DO NOTHING
  RETURNING update_id, created_at
)
SELECT ${ACCESS_COLUMNS}, f.head_version, n.created_at
  FROM facts f LEFT JOIN inserted n ON n.update_id = f.update_id
 ORDER BY f.ord`,
);

const BY_REQUEST = statement<UpdateColumnsRow>(
  'update_by_request',
  `SELECT ${UPDATE_COLUMNS} FROM updates u JOIN subjects s ON s.subject_key = u.subject_key
    WHERE u.tenant_id = $1 AND u.request_id = $2`,
);

interface ApplyRow extends AccessFactsRow, UpdateColumnsRow {
  head_version: number | null;
  envelope: string | null;
  envelope_hash: string | null;
  chain_enforced: boolean | null;
}

const APPLY_COLUMNS = { update_id: 'uuid', tenant_id: 'text', principal_id: 'text' } as const satisfies InputColumns;

const FOR_APPLY = statement<ApplyRow>(
  'update_for_apply',
  `SELECT ${ACCESS_COLUMNS}, ${UPDATE_COLUMNS}, ${HEAD_VERSION}, t.chain_enforced,
       b.envelope, encode(b.envelope_hash, 'hex') AS envelope_hash
  FROM ${inputRows(APPLY_COLUMNS)}
  LEFT JOIN updates u ON u.update_id = i.update_id AND u.tenant_id = i.tenant_id
  LEFT JOIN subjects s ON s.subject_key = u.subject_key
  LEFT JOIN snapshots b ON b.subject_key = u.subject_key AND b.snapshot_version = u.base_snapshot_version
  LEFT JOIN tenants t ON t.tenant_id = i.tenant_id
  ${TENANT_ACCESS}
 ORDER BY i.ord`,
);

const MAX_ROWS = 32;
const MAX_RUNNING = 3;

/** Proposals: stored once a (tenant, request_id), and read together with what applying them needs. */
export class UpdateStore {
  private readonly proposals: Coalescer<UpdateToPropose, ProposeRow>;
  private readonly applications: Coalescer<{ updateId: string; reader: Reader }, UpdateToApply>;

  constructor(private readonly sql: Sql) {
    this.proposals = new Coalescer<UpdateToPropose, ProposeRow>(
      async (updates) => {
        const rows = await sql.run(PROPOSE, inputArrays(PROPOSE_COLUMNS, updates.map(toInput)));
        return rows.map((row) => ({ value: row }));
      },
      { maxRows: MAX_ROWS, maxRunning: MAX_RUNNING },
      (update) => (update.requestId === null ? [] : [`${update.tenantId}/${update.requestId}`]),
    );
    this.applications = new Coalescer<{ updateId: string; reader: Reader }, UpdateToApply>(
      async (requests) => {
        const inputs = requests.map(({ updateId, reader }) => ({
          update_id: updateId,
          tenant_id: reader.tenantId,
          principal_id: reader.principalId,
        }));
        const rows = await sql.run(FOR_APPLY, inputArrays(APPLY_COLUMNS, inputs));
        return rows.map((row) => ({ value: toUpdateToApply(row) }));
      },
      { maxRows: MAX_ROWS, maxRunning: MAX_RUNNING },
    );
  }

  /** Stores a proposal on the head, or answers the one that the tenant stored under the same `requestId`. */
  async propose(update: UpdateToPropose): Promise<ProposeOutcome> {
    const row = await this.proposals.submit(update);
    if (row.created_at !== null) return { kind: 'proposed', update: toProposed(update, row.created_at) };
    const existing = await this.byRequestId(update.tenantId, update.requestId);
    if (existing !== null) return { kind: 'existing', update: existing };
    return { kind: 'refused', facts: toAccessFacts(row), headVersion: row.head_version };
  }

  /** The tenant's proposal under this `requestId`, or null. */
  async byRequestId(tenantId: string, requestId: string | null): Promise<UpdateRecord | null> {
    if (requestId === null) return null;
    const [row] = await this.sql.run(BY_REQUEST, [tenantId, requestId]);
    return row === undefined ? null : toUpdate(row);
  }

  /** The tenant's proposal, its base and the head, with the access facts, in one statement. */
  forApply(reader: Reader, updateId: string): Promise<UpdateToApply> {
    return this.applications.submit({ reader, updateId });
  }
}

function toInput(update: UpdateToPropose): Record<keyof typeof PROPOSE_COLUMNS, unknown> {
  return {
    update_id: update.updateId,
    tenant_id: update.tenantId,
    principal_id: update.principalId,
    subject_type: update.subjectType,
    subject_id: update.subjectId,
    base_snapshot_id: update.baseSnapshotId,
    base_snapshot_version: update.baseSnapshotVersion,
    patch_ops: update.patchOps,
    request_id: update.requestId,
    initiated_by: update.initiatedBy,
  };
}

function toProposed(update: UpdateToPropose, createdAt: Date): UpdateRecord {
  const { principalId, ...stored } = update;
  return {
    ...stored,
    status: 'proposed',
    proposedBy: principalId,
    createdAt,
    appliedAt: null,
    appliedSnapshotId: null,
  };
}

function toUpdate(row: UpdateColumnsRow): UpdateRecord | null {
  if (row.update_id === null) return null;
  return {
    updateId: row.update_id,
    tenantId: row.update_tenant_id,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    baseSnapshotId: row.base_snapshot_id,
    baseSnapshotVersion: row.base_snapshot_version,
    patchOps: row.patch_ops,
    status: row.status,
    requestId: row.request_id,
    initiatedBy: row.initiated_by,
    proposedBy: row.proposed_by,
    createdAt: row.update_created_at,
    appliedAt: row.applied_at,
    appliedSnapshotId: row.applied_snapshot_id,
  };
}

function toUpdateToApply(row: ApplyRow): UpdateToApply {
  return {
    facts: toAccessFacts(row),
    update: toUpdate(row),
    headVersion: row.head_version,
    base: row.envelope === null ? null : { envelope: row.envelope, envelopeHash: row.envelope_hash },
    chainEnforced: row.chain_enforced === true,
  };
}
