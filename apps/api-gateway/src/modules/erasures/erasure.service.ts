import { randomUUID } from 'node:crypto';
import {
  type AccessRule,
  type Actor,
  DomainError,
  type ErasureStatus,
  type JsonValue,
  MAX_SNAPSHOT_VERSION,
  requireAccess,
  RULES,
  type SubjectRef,
} from '@iss/domain';
import {
  type Eraser,
  type ErasureReceipt,
  type ErasureRecord,
  type ErasureMove,
  type ErasureRef,
  type ErasureRequestMove,
  ErasureStore,
  LogEntryStore,
  type ErasureWritten,
  type Page,
  type PageRequest,
} from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { requireHumanPrincipal } from '../../access/human';
import { noSuchVersion } from '../../access/read-access';
import type { Principal } from '../../auth/principal';
import { EventHandOver } from '../../events/event-hand-over';
import { notLoggedYet } from '../../log/log-tree.service';
import { LogWaiting } from '../../log/log-waiting';
import type { RequestTrace } from '../../request-trace';
import { type GatewaySettings, SETTINGS } from '../../settings';

export interface ErasureRequest {
  versions: JsonValue;
  reason: string;
  reference: string | null;
  /** How long to wait for versions that are not in the log yet. */
  waitSeconds: number;
}

/** The path of an erasure: tenant, subject and id. */
export interface ErasurePath {
  tenantId: string;
  subject: SubjectRef;
  erasureId: string;
}

const TO_ERASE = 'request or confirm an erasure';

/** Destroys the content of a subject's versions after two people of its owner agree (docs/erasure.md). */
@Injectable()
export class ErasureService {
  constructor(
    private readonly erasures: ErasureStore,
    private readonly handOver: EventHandOver,
    private readonly waiting: LogWaiting,
    private readonly entries: LogEntryStore,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Creates a pending erasure, or carries it out if the tenant needs no second human. Throws `validation_error`,
   * `forbidden`, `human_principal_required`, `not_found` for a version that does not exist, and `not_logged_yet`.
   * Throws `conflict` for an erased version, and while another erasure of the subject is pending.
   */
  async request(
    caller: Principal,
    trace: RequestTrace,
    tenantId: string,
    subject: SubjectRef,
    { versions: sent, reason, reference, waitSeconds }: ErasureRequest,
  ): Promise<ErasureReceipt> {
    const limit = this.settings.limits.erasureVersions;
    const versions = requireVersions(sent, limit);
    const { principalId } = caller;
    const deadlineMs = performance.now() + waitSeconds * 1000;
    for (;;) {
      // Set only for callers that may erase the version.
      let unlogged: number | undefined;
      const written = await this.erasures
        .request(
          { ...subject, tenantId, erasureId: randomUUID(), requestedBy: principalId, reason, reference },
          trace,
          { versions, limit },
          (move) => {
            requireEraser(move, caller, RULES.requestErasure);
            unlogged = unloggedOf(move, versions === 'all', limit);
            if (unlogged === undefined) return move.versions.map(({ version }) => version);
            throw notLoggedYet(`Version ${unlogged} is not in the transparency log yet.`);
          },
        )
        .catch((error: unknown) => {
          if (unlogged === undefined || performance.now() >= deadlineMs) throw error;
          return null;
        });
      if (written !== null) return this.announce(written);
      await this.untilLogged({ tenantId, principalId }, subject, unlogged ?? 0, deadlineMs);
    }
  }

  private async untilLogged(actor: Actor, subject: SubjectRef, version: number, deadlineMs: number): Promise<void> {
    const find = async () => (await this.entries.ofVersions(subject, version, version))[0] ?? null;
    await this.waiting.published(actor, find, (deadlineMs - performance.now()) / 1000);
  }

  /**
   * Carries out an erasure for a human other than the requester. Throws `forbidden`, `human_principal_required`,
   * `not_found`, `conflict` unless the erasure is pending, or `not_logged_yet`.
   */
  async confirm(caller: Principal, trace: RequestTrace, path: ErasurePath): Promise<ErasureReceipt> {
    const confirm = (move: ErasureMove): void => {
      requireEraser(move, caller, RULES.confirmErasure);
      const erasure = requireErasure(move.erasure);
      if (erasure.status !== 'pending') throw hasEnded(erasure);
      if (erasure.requestedBy === caller.principalId) {
        throw new DomainError(
          'forbidden',
          'The human who requested the erasure cannot confirm it. Another human must confirm it.',
        );
      }
    };
    return this.announce(await this.erasures.confirm(refOf(caller, path), trace, confirm));
  }

  /**
   * Cancels an erasure. Permitted to principals that may confirm, human or not, including the requester. Throws
   * `forbidden`, `not_found`, or `conflict` if the erasure has ended.
   */
  cancel(caller: Principal, { requestId }: RequestTrace, path: ErasurePath): Promise<ErasureReceipt> {
    return this.erasures.cancel({ ...refOf(caller, path), requestId }, ({ facts, erasure: found }) => {
      requireAccess(facts, RULES.confirmErasure);
      const erasure = requireErasure(found);
      if (erasure.status !== 'pending' && erasure.status !== 'expired') throw hasEnded(erasure);
    });
  }

  async find(caller: Principal, path: ErasurePath): Promise<ErasureReceipt> {
    const { facts, erasure } = await this.erasures.find(refOf(caller, path));
    requireAccess(facts, RULES.readErasures);
    return requireErasure(erasure);
  }

  /** Returns the subject's erasures, newest first. Throws `forbidden`. */
  async list(actor: Actor, subject: SubjectRef, request: PageRequest): Promise<Page<ErasureRecord>> {
    const { facts, page } = await this.erasures.list(actor, subject, request);
    requireAccess(facts, RULES.readErasures);
    return page;
  }

  /**
   * Returns the erasures of all subjects of the tenant, or those with this status, newest first. Throws `forbidden`.
   */
  async listOfTenant(
    actor: Actor,
    status: ErasureStatus | undefined,
    request: PageRequest,
  ): Promise<Page<ErasureRecord>> {
    const { facts, page } = await this.erasures.listOfTenant(actor, status, request);
    requireAccess(facts, RULES.listErasures);
    return page;
  }

  private announce({ erasure, eventIds }: ErasureWritten): ErasureReceipt {
    if (eventIds.length > 0) this.handOver.announce(eventIds);
    return erasure;
  }
}

function refOf({ principalId }: Principal, { tenantId, subject, erasureId }: ErasurePath): ErasureRef {
  return { ...subject, tenantId, principalId, erasureId };
}

function requireEraser({ facts, principalType }: Eraser, { claimedType }: Principal, rule: AccessRule): void {
  requireAccess(facts, rule);
  requireHumanPrincipal(principalType, claimedType, TO_ERASE);
}

function requireErasure<Found>(erasure: Found | null): Found {
  if (erasure !== null) return erasure;
  throw new DomainError('not_found', "No such erasure of this subject. List the subject's erasures for their ids.");
}

function hasEnded({ status }: ErasureRecord): DomainError {
  return new DomainError('conflict', `The erasure is ${status}. Only a pending erasure can be confirmed or cancelled.`);
}

function requireVersions(sent: JsonValue, limit: number): number[] | 'all' {
  if (sent === 'all') return sent;
  const isVersion = (value: JsonValue): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_SNAPSHOT_VERSION;
  if (!Array.isArray(sent) || sent.length === 0) throw invalid('/versions', 'must be "all", or a list of versions');
  if (sent.length > limit) throw invalid('/versions', `must name at most ${limit} versions`, 'too_many');
  const versions = sent.filter(isVersion);
  const wrong = sent.findIndex((value) => !isVersion(value));
  if (wrong >= 0) throw invalid(`/versions/${wrong}`, 'must be a version: an integer >= 1');
  return [...new Set(versions)].sort((one, other) => one - other);
}

/** Returns the newest version that is not in the log yet. Throws unless all versions exist and are not erased. */
function unloggedOf({ headVersion, versions }: ErasureRequestMove, isAll: boolean, limit: number): number | undefined {
  const missing = versions.find(({ exists }) => !exists);
  if (missing !== undefined) throw noSuchVersion(missing.version, headVersion ?? 0, '/versions');
  const erased = versions.find(({ isErased }) => isErased);
  if (erased !== undefined) throw new DomainError('conflict', `Version ${erased.version} is already erased.`);
  if (versions.length === 0) throw new DomainError('conflict', 'Every version of the subject is already erased.');
  if (isAll && versions.length > limit) {
    throw invalid('/versions', `names more than ${limit} versions: split them among several erasures`, 'too_many');
  }
  return versions.findLast(({ isLogged }) => !isLogged)?.version;
}

function invalid(path: string, message: string, code = 'invalid_value'): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [{ path, message, code }]);
}
