import { randomUUID } from 'node:crypto';
import {
  type AccessRule,
  type Actor,
  buildEventBody,
  DomainError,
  type JsonValue,
  MAX_SNAPSHOT_VERSION,
  newEventId,
  requireAccess,
  RULES,
  subjectErasedData,
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
  type ErasureWritten,
  type EventToWrite,
  type Page,
  type PageRequest,
} from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { requireHumanPrincipal } from '../../access/human';
import { noSuchVersion } from '../../access/read-access';
import type { Principal } from '../../auth/principal';
import { EventHandOver } from '../../events/event-hand-over';
import type { RequestTrace } from '../../request-trace';
import { type GatewaySettings, SETTINGS } from '../../settings';

export interface ErasureRequest {
  versions: JsonValue;
  reason: string;
  reference: string | null;
}

/** One erasure of a subject, as a caller meets it below a tenant. */
export interface ErasurePath {
  tenantId: string;
  subject: SubjectRef;
  erasureId: string;
}

const TO_ERASE = 'ask for an erasure, or confirm one';

/** Destroys what versions of a subject say, when two people of its owner want it (docs/erasure.md). */
@Injectable()
export class ErasureService {
  constructor(
    private readonly erasures: ErasureStore,
    private readonly handOver: EventHandOver,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * A pending erasure, or one that is done where the tenant needs no second human. Throws `validation_error`, `forbidden`,
   * `human_principal_required`, `not_found` for a version that is not there, `not_logged_yet`, or `conflict` for one that was erased
   * and while another erasure of the subject is pending.
   */
  async request(
    caller: Principal,
    trace: RequestTrace,
    tenantId: string,
    subject: SubjectRef,
    { versions: sent, reason, reference }: ErasureRequest,
  ): Promise<ErasureReceipt> {
    const limit = this.settings.limits.erasureVersions;
    const versions = requireVersions(sent, limit);
    const written = await this.erasures.request(
      { ...subject, tenantId, erasureId: randomUUID(), requestedBy: caller.principalId, reason, reference },
      trace.requestId,
      { versions, limit },
      (move) => {
        requireEraser(move, caller, RULES.requestErasure);
        return requireStanding(move, versions === 'all', limit);
      },
      toEventOf(trace),
    );
    return this.announce(written);
  }

  /**
   * By another human than the one who asked. Throws `forbidden`, `human_principal_required`, `not_found`, `conflict` unless it is
   * pending, or `not_logged_yet`.
   */
  async confirm(caller: Principal, trace: RequestTrace, path: ErasurePath): Promise<ErasureReceipt> {
    const confirm = (move: ErasureMove): void => {
      requireEraser(move, caller, RULES.confirmErasure);
      const erasure = requireErasure(move.erasure);
      if (erasure.status !== 'pending') throw hasEnded(erasure);
      if (erasure.requestedBy === caller.principalId) {
        throw new DomainError('forbidden', 'Another human than the one who asked has to confirm the erasure.');
      }
    };
    const ref = { ...refOf(caller, path), requestId: trace.requestId };
    return this.announce(await this.erasures.confirm(ref, confirm, toEventOf(trace)));
  }

  /** By whoever may confirm, or asked, human or not. Throws `forbidden`, `not_found`, or `conflict` where it has ended. */
  cancel(caller: Principal, { requestId }: RequestTrace, path: ErasurePath): Promise<ErasureReceipt> {
    return this.erasures.cancel({ ...refOf(caller, path), requestId }, ({ facts, erasure: found }) => {
      requireAccess(facts, RULES.confirmErasure);
      const erasure = requireErasure(found);
      if (erasure.status !== 'pending' && erasure.status !== 'expired') throw hasEnded(erasure);
    });
  }

  /** Throws `forbidden` or `not_found`. */
  async find(caller: Principal, path: ErasurePath): Promise<ErasureReceipt> {
    const { facts, erasure } = await this.erasures.find(refOf(caller, path));
    requireAccess(facts, RULES.readErasures);
    return requireErasure(erasure);
  }

  /** The subject's erasures, newest first. Throws `forbidden`. */
  async list(actor: Actor, subject: SubjectRef, request: PageRequest): Promise<Page<ErasureRecord>> {
    const { facts, page } = await this.erasures.list(actor, subject, request);
    requireAccess(facts, RULES.readErasures);
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
  throw new DomainError('not_found', 'No such erasure of this subject. List its erasures for their ids.');
}

function hasEnded({ status }: ErasureRecord): DomainError {
  return new DomainError('conflict', `The erasure is ${status}; only a pending one can be confirmed or cancelled.`);
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

/** What is to be erased, of what is there at this moment. */
function requireStanding({ headVersion, versions }: ErasureRequestMove, isAll: boolean, limit: number): number[] {
  const missing = versions.find(({ exists }) => !exists);
  if (missing !== undefined) throw noSuchVersion(missing.version, headVersion ?? 0, '/versions');
  const erased = versions.find(({ isErased }) => isErased);
  if (erased !== undefined) throw new DomainError('conflict', `Version ${erased.version} is erased already.`);
  if (versions.length === 0) throw new DomainError('conflict', 'Every version of the subject is erased already.');
  if (isAll && versions.length > limit) {
    throw invalid('/versions', `names more than ${limit} versions: name them in parts, an erasure each`, 'too_many');
  }
  const unlogged = versions.find(({ isLogged }) => !isLogged);
  if (unlogged !== undefined) {
    throw new DomainError(
      'not_logged_yet',
      `Version ${unlogged.version} is not in the transparency log yet. Try again shortly.`,
    );
  }
  return versions.map(({ version }) => version);
}

function toEventOf({ requestId, traceparent }: RequestTrace) {
  return (erasure: ErasureRecord, erasedAt: Date, tenantId: string): EventToWrite => {
    const eventId = newEventId();
    const data = subjectErasedData({ ...erasure, erasedAt });
    const eventBody = buildEventBody({ eventId, type: 'subject.erased', createdAt: erasedAt, tenantId, data });
    return { eventId, tenantId, eventType: 'subject.erased', eventBody, requestId, traceparent };
  };
}

function invalid(path: string, message: string, code = 'invalid_value'): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [{ path, message, code }]);
}
