import type { AccessFacts, Actor, ChangeKind, EvidencePolicy, SubjectRef, UpdateStatus } from '@iss/domain';
import { newEventId } from '@iss/domain';
import { type CapName, type Caps, DEFAULT_CAPS } from '@iss/platform';
import { ANY_BYTES, Coalescer, LARGE_ANSWER } from '../../sql/coalescer';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { Headroom } from '../limits/headroom';
import { type SnapshotRow } from '../snapshots/snapshot-record';
import type { EventTrace } from '../webhooks/record';
import { type ListedUpdate, type UpdateRecord } from './update-record';

export { type ListedUpdate, type UpdateRecord } from './update-record';

/** A new proposal. `patchOps` is canonical JSON text. */
export interface UpdateToPropose extends SubjectRef {
  updateId: string;
  tenantId: string;
  principalId: string;
  baseSnapshotId: string;
  baseSnapshotVersion: number;
  patchOps: string;
  changeKind: ChangeKind;
  requestId: string | null;
  initiatedBy: string | null;
  /** The evidence policy by which the dry run was checked. */
  evidencePolicy: EvidencePolicy;
  trace: EventTrace;
}

/** `eventId` is the event to announce, or null if no subscription wants it. */
export type ProposeOutcome =
  | { kind: 'proposed'; update: UpdateRecord; eventId: string | null }
  | { kind: 'existing'; update: UpdateRecord }
  | ({ kind: 'refused' } & Pick<ProposeRow, 'facts' | 'headVersion' | 'evidencePolicy' | 'reached'>);

/** An update of a tenant, and the member that acts on it. */
export interface UpdateRef extends Actor {
  updateId: string;
  /** The subject in the path, which must be the update's; null if the path has none. */
  subject: SubjectRef | null;
}

/** The update, or null if the tenant (and the named subject) has none with this id, and the caller's access facts. */
export interface FoundUpdate {
  facts: AccessFacts;
  update: UpdateRecord | null;
}

/** An update with the data that applying it needs. */
export interface UpdateToApply extends FoundUpdate {
  /** The version of the subject's newest snapshot. */
  headVersion: number | null;
  base: ApplyBase | null;
  chainEnforced: boolean;
  /** The evidence that the tenant demands. */
  evidencePolicy: EvidencePolicy;
}

/** The snapshot to which an update is applied. */
export interface ApplyBase extends SnapshotRow {
  /** Encoded by `encodeOrigins`; null for a first version, and if they are unknown. */
  origins: Buffer | null;
}

interface ProposeRow {
  facts: AccessFacts;
  headVersion: number | null;
  /** The tenant's current policy. A proposal that was checked by another policy is refused. Null if there is no tenant. */
  evidencePolicy: EvidencePolicy | null;
  createdAt: Date | null;
  eventId: string | null;
  tenantCap: number;
  /** The number of the tenant's proposals before this statement; null if they were not counted. */
  pendingOfTenant: number | null;
  reached: ReachedCap | null;
}

/** A cap without a free place, and its value. */
export interface ReachedCap {
  name: CapName;
  value: number;
}

/**
 * For each row: the cap under which its tenant is known to have a free place, and the number of earlier rows of its subject and
 * tenant.
 */
interface Places {
  eventIds: readonly string[];
  traces: readonly EventTrace[];
  countedCaps: readonly (number | null)[];
  aheadOfSubject: readonly number[];
  aheadOfTenant: readonly number[];
}

type PendingCaps = Pick<Caps, 'pending_updates_per_subject' | 'pending_updates_per_tenant'>;

const PROPOSE = statement<{ inputs: readonly UpdateToPropose[] } & Places & PendingCaps, ProposeRow>('update_propose');

const BY_REQUEST = statement<{ tenantId: string; requestId: string }, UpdateRecord>('update_by_request');

/** An {@link UpdateRef} as parameters of a statement. */
type UpdateInput = Actor & { updateId: string; subjectType: string | null; subjectId: string | null };

const FOR_APPLY = statement<
  { inputs: readonly UpdateInput[]; maxBytes: number },
  UpdateToApply & { isTooLarge: boolean }
>('update_for_apply');

const FIND = statement<UpdateInput, FoundUpdate>('update_find');

const WITHDRAW = statement<
  UpdateInput & {
    eventIds: readonly string[];
    traces: readonly EventTrace[];
  },
  FoundUpdate & { withdrawnNowAt: Date | null; eventId: string | null }
>('update_withdraw');
type ListParameters = Actor & Before & { statuses: readonly UpdateStatus[] };

const OF_TENANT = statement<ListParameters, ListRow<AccessFacts, ListedUpdate>>('updates_of_tenant');

const OF_SUBJECT = statement<ListParameters & SubjectRef, ListRow<AccessFacts, ListedUpdate>>('updates_of_subject');

const MAX_ROWS = 32;
const MAX_RUNNING = 3;

/** Updates: proposed once per (tenant, request_id), read, withdrawn, and loaded with the data that applying them needs. */
export class UpdateStore {
  private readonly proposals: Coalescer<UpdateToPropose, ProposeRow>;
  private readonly applications: Coalescer<UpdateRef, UpdateToApply>;

  constructor(
    private readonly sql: Sql,
    { pending_updates_per_subject, pending_updates_per_tenant }: PendingCaps = DEFAULT_CAPS,
  ) {
    const headroom = new Headroom();
    const { sql: shared, lone } = sql.sharing;
    this.proposals = new Coalescer<UpdateToPropose, ProposeRow>({
      run: async (updates, isAlone) => {
        const rows = await (isAlone ? sql : shared).run(PROPOSE, {
          inputs: updates,
          eventIds: updates.map(() => newEventId()),
          traces: updates.map(({ trace }) => trace),
          countedCaps: updates.map(({ tenantId }) => headroom.take(tenantId)),
          aheadOfSubject: aheadOf(updates, isOfSameSubject),
          aheadOfTenant: aheadOf(updates, isOfSameTenant),
          pending_updates_per_subject,
          pending_updates_per_tenant,
        });
        rows.forEach(({ pendingOfTenant, tenantCap }, index) => {
          const tenantId = updates[index]?.tenantId;
          if (pendingOfTenant !== null && tenantId !== undefined)
            headroom.counted(tenantId, pendingOfTenant, tenantCap);
        });
        return rows.map((value) => ({ value }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ tenantId }) => tenantId,
      keysOf: ({ tenantId, requestId }) => (requestId === null ? [] : [`${tenantId}/${requestId}`]),
      sizeOf: ({ patchOps }) => patchOps.length,
    });
    this.applications = new Coalescer<UpdateRef, UpdateToApply>({
      run: async (refs, isAlone) => {
        const inputs = refs.map(toInput);
        const rows = isAlone
          ? await sql.run(FOR_APPLY, { inputs, maxBytes: ANY_BYTES })
          : await shared.run(FOR_APPLY, { inputs, maxBytes: LARGE_ANSWER });
        return rows.map((value) => (value.isTooLarge ? 'tooLarge' : { value }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ tenantId }) => tenantId,
    });
  }

  /**
   * Stores a proposal on the head, or returns the one that the tenant stored under the same `requestId`. Reasons for a refusal,
   * in this order: the caller's rights, a stale base, the cap in `reached`.
   */
  async propose(update: UpdateToPropose): Promise<ProposeOutcome> {
    const { createdAt, eventId, ...refusal } = await this.proposals.submit(update);
    if (createdAt !== null) return { kind: 'proposed', update: toProposed(update, createdAt), eventId };
    const existing = await this.byRequestId(update.tenantId, update.requestId);
    if (existing !== null) return { kind: 'existing', update: existing };
    return { kind: 'refused', ...refusal };
  }

  /** Returns the tenant's update with this `requestId`, or null. */
  async byRequestId(tenantId: string, requestId: string | null): Promise<UpdateRecord | null> {
    if (requestId === null) return null;
    const [update = null] = await this.sql.run(BY_REQUEST, { tenantId, requestId });
    return update;
  }

  /** Returns the update, its base and the head with the access facts, in one statement. */
  forApply(ref: UpdateRef): Promise<UpdateToApply> {
    return this.applications.submit(ref);
  }

  async find(ref: UpdateRef): Promise<FoundUpdate> {
    return this.sql.one(FIND, toInput(ref));
  }

  /**
   * Withdraws a proposed update if the caller may apply updates, or made it and may withdraw.
   * `isWithdrawn` is true if this call withdrew it; otherwise `update` is unchanged. `eventId` is the event to announce, or null
   * if no subscription wants it.
   */
  async withdraw(
    ref: UpdateRef,
    trace: EventTrace,
  ): Promise<FoundUpdate & { isWithdrawn: boolean; eventId: string | null }> {
    const event = { eventIds: [newEventId()], traces: [trace] };
    const found = await this.sql.one(WITHDRAW, { ...toInput(ref), ...event });
    const { facts, update, withdrawnNowAt, eventId } = found;
    if (update === null || withdrawnNowAt === null) return { facts, update, isWithdrawn: false, eventId };
    const withdrawn = { ...update, status: 'withdrawn', withdrawnAt: withdrawnNowAt } as const;
    return { facts, update: withdrawn, isWithdrawn: true, eventId };
  }

  /**
   * Returns updates of the tenant, or of one subject that it owns, with these statuses, newest first, and the caller's access
   * facts. Only an active member of the owner gets any.
   */
  async list(
    { tenantId, principalId, subject }: Omit<UpdateRef, 'updateId'>,
    statuses: readonly UpdateStatus[],
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ListedUpdate> }> {
    const parameters = { tenantId, principalId, statuses, ...before(request) };
    const rows = await (subject === null
      ? this.sql.runInTurn(tenantId, OF_TENANT, parameters)
      : this.sql.runInTurn(tenantId, OF_SUBJECT, { ...parameters, ...subject }));
    return toList(rows, request.limit);
  }
}

/** Returns for each row the number of earlier rows that are like it. Statements are small, so it compares every pair. */
function aheadOf(
  updates: readonly UpdateToPropose[],
  isLike: (one: UpdateToPropose, other: UpdateToPropose) => boolean,
): number[] {
  return updates.map((update, place) => {
    let count = 0;
    for (let before = 0; before < place; before += 1) {
      const other = updates[before];
      if (other !== undefined && isLike(update, other)) count += 1;
    }
    return count;
  });
}

function isOfSameTenant(one: UpdateToPropose, other: UpdateToPropose): boolean {
  return one.tenantId === other.tenantId;
}

function isOfSameSubject(one: UpdateToPropose, other: UpdateToPropose): boolean {
  return one.subjectId === other.subjectId && one.subjectType === other.subjectType;
}

function toInput({ subject, ...ref }: UpdateRef): UpdateInput {
  return { ...ref, subjectType: subject?.subjectType ?? null, subjectId: subject?.subjectId ?? null };
}

function toProposed({ principalId, evidencePolicy: _, ...stored }: UpdateToPropose, createdAt: Date): UpdateRecord {
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
