import type { AccessFacts, Actor, Role, SubjectRef, UpdateStatus } from '@iss/domain';
import { rolesFrom } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import { inputElement } from '../../sql/input-element';
import { type Page, type PageRequest, type Position, toPage } from '../../sql/page';
import { inputArrays, type InputColumns, inputRows, type Sql, statement } from '../../sql/sql';
import { ACCESS_COLUMNS, type AccessFactsRow, TENANT_ACCESS, toAccessFacts } from '../facts/access-facts';
import { HEAD_VERSION, NAMED_SUBJECT, snapshotOfVersion } from '../facts/joins';
import { MEMBER_ACCESS } from '../tenancy/memberships';
import { toUpdate, UPDATE_COLUMNS, type UpdateRecord, type UpdateRow } from './update-row';

export { type UpdateRecord } from './update-row';

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

export type ProposeOutcome =
  | { kind: 'proposed' | 'existing'; update: UpdateRecord }
  | { kind: 'refused'; facts: AccessFacts; headVersion: number | null };

/** One update of a tenant, asked for by one of its members. */
export interface UpdateRef extends Actor {
  updateId: string;
  /** The subject that the path names, whose update it must be; null where it names none. */
  subject: SubjectRef | null;
}

/** The update, null when the tenant (and the named subject) has none with this id; and what the caller may do. */
export interface FoundUpdate {
  facts: AccessFacts;
  update: UpdateRecord | null;
}

/** An update with what applying it needs. */
export interface UpdateToApply extends FoundUpdate {
  /** Version of the subject's newest snapshot. */
  headVersion: number | null;
  base: { envelope: string; envelopeHash: string | null } | null;
  chainEnforced: boolean;
}

/** What the checks look at. */
const PROPOSE_KEYS = {
  update_id: 'uuid',
  tenant_id: 'text',
  principal_id: 'text',
  subject_type: 'text',
  subject_id: 'text',
  base_snapshot_version: 'int',
  request_id: 'text',
} as const satisfies InputColumns;

const PROPOSE_COLUMNS = {
  ...PROPOSE_KEYS,
  base_snapshot_id: 'uuid',
  patch_ops: 'text',
  initiated_by: 'text',
} as const satisfies InputColumns;

const element = (column: keyof typeof PROPOSE_COLUMNS): string => inputElement(PROPOSE_COLUMNS, column);

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
  SELECT i.*, ${ACCESS_COLUMNS}, s.subject_key, ${HEAD_VERSION} AS head_version
    FROM ${inputRows(PROPOSE_KEYS)}
    ${NAMED_SUBJECT}
    ${TENANT_ACCESS}
   ORDER BY i.tenant_id, i.request_id
),
inserted AS (
  INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops,
                       request_id, initiated_by, proposed_by)
  SELECT update_id, tenant_id, subject_key, ${element('base_snapshot_id')}, base_snapshot_version,
         ${element('patch_ops')}, request_id, ${element('initiated_by')}, principal_id
    FROM facts
   WHERE member_status = 'active' AND role IN (${PROPOSERS}) AND owns_subject
     AND head_version = base_snapshot_version
  ON CONFLICT (tenant_id, request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING update_id
)
SELECT ${ACCESS_COLUMNS}, f.head_version,
       CASE WHEN f.update_id = ANY (ARRAY(SELECT update_id FROM inserted)) THEN now() END AS created_at
  FROM facts f
 ORDER BY f.ord`,
);

const BY_REQUEST = statement<UpdateRow>(
  'update_by_request',
  `SELECT ${UPDATE_COLUMNS} FROM updates u JOIN subjects s ON s.subject_key = u.subject_key
    WHERE u.tenant_id = $1 AND u.request_id = $2`,
);

interface ApplyRow extends AccessFactsRow, UpdateRow {
  head_version: number | null;
  envelope: string | null;
  envelope_hash: string | null;
  chain_enforced: boolean | null;
}

const REF_COLUMNS = {
  update_id: 'uuid',
  tenant_id: 'text',
  principal_id: 'text',
  subject_type: 'text',
  subject_id: 'text',
} as const satisfies InputColumns;

/**
 * From the input `i` to its update `u`, with the subject `s` on which access is decided: the path's where it names one.
 * The update is found by its key first and judged after that: a plan made early walks through all of the tenant's.
 */
const UPDATE = `
  LEFT JOIN subjects p ON p.subject_type = i.subject_type AND p.subject_id = i.subject_id
  LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.update_id = i.update_id LIMIT 1) u
    ON u.tenant_id = i.tenant_id AND (i.subject_type IS NULL OR u.subject_key = p.subject_key)
  LEFT JOIN subjects s ON s.subject_key = coalesce(p.subject_key, u.subject_key)
  ${TENANT_ACCESS}`;

const FOR_APPLY = statement<ApplyRow>(
  'update_for_apply',
  `SELECT ${ACCESS_COLUMNS}, ${UPDATE_COLUMNS}, ${HEAD_VERSION} AS head_version, t.chain_enforced,
       b.envelope, encode(b.envelope_hash, 'hex') AS envelope_hash
  FROM ${inputRows(REF_COLUMNS)}
  ${UPDATE}
  ${snapshotOfVersion('u.subject_key', 'u.base_snapshot_version', 'b')}
  LEFT JOIN tenants t ON t.tenant_id = i.tenant_id
 ORDER BY i.ord`,
);

const FIND = statement<AccessFactsRow & UpdateRow>(
  'update_find',
  `SELECT ${ACCESS_COLUMNS}, ${UPDATE_COLUMNS} FROM ${inputRows(REF_COLUMNS)} ${UPDATE}`,
);

/** The row lock decides between withdrawing and applying: the later one sees then that it is proposed no more. */
const WITHDRAW = statement<AccessFactsRow & UpdateRow & { withdrawn_now_at: Date | null }>(
  'update_withdraw',
  `WITH found AS MATERIALIZED (
  SELECT ${ACCESS_COLUMNS}, ${UPDATE_COLUMNS}, i.principal_id FROM ${inputRows(REF_COLUMNS)} ${UPDATE}
),
withdrawn AS (
  UPDATE updates u SET status = 'withdrawn', withdrawn_at = now()
    FROM found f
   WHERE u.update_id = f.update_id AND (u.status = 'proposed') IS TRUE AND f.member_status = 'active' AND f.owns_subject
     AND (f.role = ANY ($7) OR (f.role = ANY ($6) AND f.proposed_by = f.principal_id))
  RETURNING u.withdrawn_at
)
SELECT f.*, w.withdrawn_at AS withdrawn_now_at FROM found f LEFT JOIN withdrawn w ON true`,
);

type ListRow = AccessFactsRow & UpdateRow & { position: string };

/**
 * A page of updates `u`, newest first. Each status is read from the index by itself, so that a filter for a rare one
 * never walks a long history.
 */
const pageOf = (whose: string): string => `
  LEFT JOIN LATERAL (
    SELECT u.*
      FROM unnest($1::text[]) state
     CROSS JOIN LATERAL (
       SELECT * FROM updates u
        WHERE ${whose} AND u.status = state AND (u.created_at, u.update_id) < ($2::timestamptz, $3::uuid)
        ORDER BY u.created_at DESC, u.update_id DESC LIMIT $4
     ) u
     ORDER BY u.created_at DESC, u.update_id DESC LIMIT $4
  ) u ON true`;
const LISTED = `SELECT ${ACCESS_COLUMNS}, ${UPDATE_COLUMNS}, u.created_at::text AS position`;
const NEWEST_FIRST = 'ORDER BY u.created_at DESC, u.update_id DESC';

const OF_TENANT = statement<ListRow>(
  'updates_of_tenant',
  `${LISTED}
  FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id) i
  ${MEMBER_ACCESS}
  ${pageOf(`u.tenant_id = i.tenant_id AND f.member_status = 'active'`)}
  LEFT JOIN subjects s ON s.subject_key = u.subject_key
 ${NEWEST_FIRST}`,
);

const OF_SUBJECT = statement<ListRow>(
  'updates_of_subject',
  `${LISTED}
  FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id) i
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  ${pageOf('u.subject_key = s.subject_key AND f.owns_subject')}
 ${NEWEST_FIRST}`,
);

/** Before the newest update. */
const START: Position = ['infinity', '00000000-0000-0000-0000-000000000000'];

const MAX_ROWS = 32;
const MAX_RUNNING = 3;

/** Updates: proposed once a (tenant, request_id), read, withdrawn, and brought together with what applying them needs. */
export class UpdateStore {
  private readonly proposals: Coalescer<UpdateToPropose, ProposeRow>;
  private readonly applications: Coalescer<UpdateRef, UpdateToApply>;

  constructor(private readonly sql: Sql) {
    this.proposals = new Coalescer<UpdateToPropose, ProposeRow>(
      async (updates) => {
        const rows = await sql.run(PROPOSE, inputArrays(PROPOSE_COLUMNS, updates.map(toInput)));
        return rows.map((row) => ({ value: row }));
      },
      { maxRows: MAX_ROWS, maxRunning: MAX_RUNNING },
      (update) => (update.requestId === null ? [] : [`${update.tenantId}/${update.requestId}`]),
    );
    this.applications = new Coalescer<UpdateRef, UpdateToApply>(
      async (refs) => {
        const rows = await sql.run(FOR_APPLY, inputArrays(REF_COLUMNS, refs.map(toRefInput)));
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

  /** The update, its base and the head, with the access facts, in one statement. */
  forApply(ref: UpdateRef): Promise<UpdateToApply> {
    return this.applications.submit(ref);
  }

  async find(ref: UpdateRef): Promise<FoundUpdate> {
    const row = theRow(await this.sql.run(FIND, inputArrays(REF_COLUMNS, [toRefInput(ref)])));
    return { facts: toAccessFacts(row), update: toUpdate(row) };
  }

  /**
   * Withdraws an update that is still proposed, if the caller holds one of `editors`, or made it and holds one of
   * `proposers`. `update` is as it was found, or as it became when it `isWithdrawn` by this call.
   */
  async withdraw(
    ref: UpdateRef,
    proposers: readonly Role[],
    editors: readonly Role[],
  ): Promise<FoundUpdate & { isWithdrawn: boolean }> {
    const values = [...inputArrays(REF_COLUMNS, [toRefInput(ref)]), proposers, editors];
    const row = theRow(await this.sql.run(WITHDRAW, values));
    const facts = toAccessFacts(row);
    if (row.withdrawn_now_at === null) return { facts, update: toUpdate(row), isWithdrawn: false };
    const update = toUpdate({ ...row, status: 'withdrawn', withdrawn_at: row.withdrawn_now_at });
    return { facts, update, isWithdrawn: true };
  }

  /**
   * Updates of the tenant, or of the one subject that it owns, in these states, newest first; and what the caller may do.
   * Nobody but an active member of the owner gets any.
   */
  async list(
    { tenantId, principalId, subject }: Omit<UpdateRef, 'updateId'>,
    statuses: readonly UpdateStatus[],
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<UpdateRecord> }> {
    const common = [statuses, ...(after ?? START), limit + 1, tenantId, principalId];
    const rows = await (subject === null
      ? this.sql.run(OF_TENANT, common)
      : this.sql.run(OF_SUBJECT, [...common, subject.subjectType, subject.subjectId]));
    const found = rows.flatMap((row) => {
      const update = toUpdate(row);
      return update === null ? [] : [{ update, position: row.position }];
    });
    const page = toPage(
      found,
      limit,
      ({ update }) => update,
      ({ update, position }) => [position, update.updateId],
    );
    return { facts: toAccessFacts(theRow(rows)), page };
  }
}

/** The row that holds the facts: these statements answer one at least. */
function theRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('a statement about updates answered no row');
  return row;
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

function toRefInput({
  updateId,
  tenantId,
  principalId,
  subject,
}: UpdateRef): Record<keyof typeof REF_COLUMNS, unknown> {
  return {
    update_id: updateId,
    tenant_id: tenantId,
    principal_id: principalId,
    subject_type: subject?.subjectType ?? null,
    subject_id: subject?.subjectId ?? null,
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
    withdrawnAt: null,
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
