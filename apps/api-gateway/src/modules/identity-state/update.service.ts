import { randomUUID } from 'node:crypto';
import {
  applyPatch,
  canonicalize,
  DEFAULT_PATCH_LIMITS,
  deriveSnapshotId,
  DomainError,
  type Envelope,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parsePatch,
  parseStoredJson,
  type PatchOperation,
  requireAccess,
  requirePatchAllowed,
  seal,
  type Sealed,
  validateEnvelope,
} from '@iss/domain';
import {
  type SnapshotRecord,
  SnapshotReadStore,
  SnapshotWriteStore,
  type SubjectRef,
  type UpdateRecord,
  UpdateStore,
  type UpdateToApply,
} from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { RULES } from '../../access/rules';
import { EventHandOver } from '../../events/event-hand-over';
import { type GatewaySettings, SETTINGS } from '../../settings';
import type { Writer } from './entity-state.service';
import { snapshotCreated } from './snapshot-created';

/** A proposal as either path family puts it. */
export interface Proposal {
  subject: SubjectRef;
  /** Null where the caller names the base by its version alone. */
  baseSnapshotId: string | null;
  baseSnapshotVersion: number;
  patchOps: JsonValue;
  requestId: string | null;
  initiatedBy: string | null;
  /** Operations that the path family takes; absent: all six. */
  allowedOps?: readonly PatchOperation['op'][];
}

const AT = '/patch_ops';

/** Later versions: propose a patch, then apply the proposal. */
@Injectable()
export class UpdateService {
  constructor(
    private readonly updates: UpdateStore,
    private readonly reads: SnapshotReadStore,
    private readonly writes: SnapshotWriteStore,
    private readonly handOver: EventHandOver,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Stores a proposal after a dry run against its base. `isNew` is false when the tenant proposed the same under the
   * same `request_id` before. Throws `validation_error`, `forbidden`, or `conflict` when the base is stale.
   */
  async propose(writer: Writer, proposal: Proposal): Promise<{ update: UpdateRecord; isNew: boolean }> {
    const operations = this.requireOperations(proposal.patchOps, proposal.allowedOps);
    const reader = { tenantId: writer.tenantId, principalId: writer.principalId };
    const { facts, snapshot: head } = await this.reads.latest(reader, proposal.subject, true);
    requireAccess(facts, RULES.proposeUpdate);
    if (head === null) throw new DomainError('not_found', 'No such subject.');

    const patchOps = canonicalize(operations.map((operation) => ({ ...operation })));
    const isSame = (update: UpdateRecord): boolean => isSameProposal(update, proposal, patchOps);
    if (head.snapshotVersion !== proposal.baseSnapshotVersion) {
      const earlier = await this.updates.byRequestId(writer.tenantId, proposal.requestId);
      if (earlier !== null) return replay(earlier, isSame);
      throw await this.staleOrWrongBase(writer, proposal, head.snapshotVersion);
    }
    requireSameBase(proposal.baseSnapshotId, head.snapshotId);
    validateEnvelope(this.patched(head.envelope ?? '{}', operations));

    const outcome = await this.updates.propose({
      ...proposal.subject,
      updateId: randomUUID(),
      tenantId: writer.tenantId,
      principalId: writer.principalId,
      baseSnapshotId: head.snapshotId,
      baseSnapshotVersion: head.snapshotVersion,
      patchOps,
      requestId: proposal.requestId,
      initiatedBy: proposal.initiatedBy,
    });
    switch (outcome.kind) {
      case 'proposed':
        return { update: outcome.update, isNew: true };
      case 'existing':
        return replay(outcome.update, isSame);
      case 'refused':
        requireAccess(outcome.facts, RULES.proposeUpdate);
        throw stale(outcome.headVersion ?? 0);
    }
  }

  /**
   * Writes the snapshot that a proposal leads to. `subject` is given where the path names it. Throws `not_found`,
   * `forbidden`, `conflict` (already applied, withdrawn, stale base), or `validation_error`.
   */
  async apply(writer: Writer, updateId: string, subject: SubjectRef | null): Promise<SnapshotRecord> {
    const reader = { tenantId: writer.tenantId, principalId: writer.principalId };
    const loaded = await this.updates.forApply(reader, updateId);
    const { update, base } = requireApplicable(loaded, subject);

    const operations = parsePatch(parseStoredJson(update.patchOps), {
      at: AT,
      maxOperations: this.settings.limits.patchOperations,
    });
    const sealed = this.nextEnvelope(writer, update, base.envelope, operations);
    const snapshot = {
      subjectType: update.subjectType,
      subjectId: update.subjectId,
      snapshotId: sealed.envelope.snapshot_id,
      snapshotVersion: sealed.envelope.snapshot_version,
      generatedAt: sealed.envelope.generated_at,
      envelope: sealed.text,
      envelopeHash: sealed.hash,
      prevHash: base.envelopeHash,
    };
    const outcome = await this.writes.append({
      ...snapshot,
      ...snapshotCreated(writer.tenantId, snapshot),
      tenantId: writer.tenantId,
      principalId: writer.principalId,
      requestId: writer.requestId,
      updateId,
    });
    if (outcome.kind === 'refused') {
      requireAccess(outcome.facts, RULES.applyUpdate);
      if (outcome.headVersion !== update.baseSnapshotVersion) throw stale(outcome.headVersion ?? 0);
      throw new DomainError('conflict', 'The update was applied or withdrawn meanwhile. Read it for its state.');
    }
    if (outcome.eventId !== null) this.handOver.announce([outcome.eventId]);
    return { ...snapshot, createdAt: outcome.createdAt };
  }

  private requireOperations(patchOps: JsonValue, allowedOps?: readonly PatchOperation['op'][]): PatchOperation[] {
    const operations = parsePatch(patchOps, {
      at: AT,
      maxOperations: this.settings.limits.patchOperations,
      ...(allowedOps === undefined ? {} : { allowedOps }),
    });
    requirePatchAllowed(operations, AT);
    return operations;
  }

  /** The patched base with the server's own members (contract, "Apply"), sealed. */
  private nextEnvelope(
    writer: Writer,
    update: UpdateRecord,
    baseText: string,
    operations: readonly PatchOperation[],
  ): Sealed & { envelope: Envelope } {
    const ops = operations.map((operation) => ({ ...operation }));
    const now = new Date().toISOString();
    const envelope = validateEnvelope({
      ...this.patched(baseText, operations),
      snapshot_id: deriveSnapshotId(this.settings.snapshotIdSecret, {
        subject_type: update.subjectType,
        subject_id: update.subjectId,
        base_snapshot_id: update.baseSnapshotId,
        patch_ops: ops,
      }),
      snapshot_version: update.baseSnapshotVersion + 1,
      generated_at: now,
      audit: {
        created_by: writer.principalId,
        created_at: now,
        source: 'entity_state_update',
        request_id: writer.requestId,
        ...(writer.correlationId === undefined ? {} : { correlation_id: writer.correlationId }),
      },
      diff: { format: 'rfc6902', ops },
    });
    return { ...seal(envelope), envelope };
  }

  /** The patched envelope. A patch may not make one that could not have been sent. */
  private patched(baseText: string, operations: readonly PatchOperation[]): JsonObject {
    const { bodyBytes, jsonDepth } = this.settings.limits;
    const patched = applyPatch(parseStoredJson(baseText), operations, AT, {
      ...DEFAULT_PATCH_LIMITS,
      maxDepth: jsonDepth,
    });
    if (!isJsonObject(patched)) throw new DomainError('validation_error', 'The patch must leave an object.');
    if (Buffer.byteLength(canonicalize(patched)) > bodyBytes) {
      throw new DomainError('validation_error', `The patch makes an envelope of more than ${bodyBytes} bytes.`, [
        { path: AT, message: 'makes the envelope too large', code: 'too_large' },
      ]);
    }
    return patched;
  }

  private async staleOrWrongBase(writer: Writer, proposal: Proposal, headVersion: number): Promise<DomainError> {
    if (proposal.baseSnapshotId !== null) {
      const reader = { tenantId: writer.tenantId, principalId: writer.principalId };
      const named = await this.reads.byVersion(reader, proposal.subject, proposal.baseSnapshotVersion, false);
      if (named.snapshot !== null) requireSameBase(proposal.baseSnapshotId, named.snapshot.snapshotId);
    }
    return stale(headVersion);
  }
}

/** Every condition on the proposal itself, in the order in which the caller may learn of them. */
function requireApplicable(
  loaded: UpdateToApply,
  subject: SubjectRef | null,
): { update: UpdateRecord; base: { envelope: string; envelopeHash: string | null } } {
  const { facts, update, base, headVersion } = loaded;
  const isNamed =
    subject === null || (update?.subjectType === subject.subjectType && update.subjectId === subject.subjectId);
  if (update === null || base === null || !isNamed) {
    requireAccess(facts, { role: RULES.applyUpdate.role });
    throw new DomainError('not_found', 'No such update in this tenant.');
  }
  requireAccess(facts, RULES.applyUpdate);
  if (update.status !== 'proposed') {
    throw new DomainError('conflict', `The update is ${update.status}; only a proposed one can be applied.`);
  }
  if (headVersion !== update.baseSnapshotVersion) throw stale(headVersion ?? 0);
  if (base.envelopeHash === null && loaded.chainEnforced) {
    throw new DomainError(
      'validation_error',
      'The parent snapshot has no envelope_hash, and the tenant has chain_enforced. Have its hash filled in first.',
    );
  }
  return { update, base };
}

function stale(headVersion: number): DomainError {
  return new DomainError(
    'conflict',
    `The base snapshot is stale: the latest version is ${headVersion}. Read it and propose again.`,
    [{ path: '/base_snapshot_version', message: `the latest version is ${headVersion}`, code: 'stale' }],
  );
}

function requireSameBase(baseSnapshotId: string | null, snapshotId: string): void {
  if (baseSnapshotId === null || baseSnapshotId.toLowerCase() === snapshotId) return;
  throw new DomainError('validation_error', 'base_snapshot_id and base_snapshot_version name different snapshots.', [
    { path: '/base_snapshot_id', message: 'is not the snapshot of base_snapshot_version', code: 'mismatch' },
  ]);
}

function isSameProposal(update: UpdateRecord, proposal: Proposal, patchOps: string): boolean {
  return (
    update.subjectType === proposal.subject.subjectType &&
    update.subjectId === proposal.subject.subjectId &&
    update.baseSnapshotVersion === proposal.baseSnapshotVersion &&
    (proposal.baseSnapshotId === null || update.baseSnapshotId === proposal.baseSnapshotId.toLowerCase()) &&
    update.patchOps === patchOps &&
    update.initiatedBy === proposal.initiatedBy
  );
}

function replay(
  update: UpdateRecord,
  isSame: (update: UpdateRecord) => boolean,
): { update: UpdateRecord; isNew: boolean } {
  if (isSame(update)) return { update, isNew: false };
  throw new DomainError('conflict', 'This request_id was used for another proposal. Use a fresh one.', [
    { path: '/request_id', message: 'was used for another proposal', code: 'conflict' },
  ]);
}
