import { createHash } from 'node:crypto';
import { type api, type Change, momentOfChange, type Tenant } from '@identity-state/client';
import { buildEventBody, type EventData, eventIdOf, grantData, snapshotCreatedData } from '@iss/domain';
import { Failure } from '../command';

/** An event to send to a receiver. */
export interface ForwardedEvent {
  id: string;
  type: keyof EventData;
  /** The signed body. */
  body: string;
}

/** The types of events that changes of the feed become. The feed lacks updates, requests and ends of grants. */
export const FORWARDED_TYPES = [
  'identity.snapshot.created',
  'shared.snapshot.created',
  'grant.created',
  'grant.changed',
  'grant.revoked',
  'subject.erased',
] as const satisfies readonly (keyof EventData)[];
export type ForwardedType = (typeof FORWARDED_TYPES)[number];

type Grant = Pick<Parameters<typeof grantData>[0], 'scopes' | 'paths' | 'startsAt' | 'expiresAt'>;

/** Builds events from the feed of a tenant. They equal those of the service, except for ids, which derive from log indexes. */
export class FeedEvents {
  constructor(
    private readonly tenant: Tenant,
    private readonly baseUrl: string,
  ) {}

  /** Returns the event of a change; null if it has none. @throws Failure if the data of the event is not available */
  async of(change: Change): Promise<ForwardedEvent | null> {
    const { tenantId } = this.tenant;
    switch (change.type) {
      case 'snapshot.created': {
        const data = snapshotCreatedData({
          subjectType: change.subject_type,
          subjectId: change.subject_id,
          snapshotId: change.snapshot_id,
          snapshotVersion: change.snapshot_version,
          envelopeHash: change.envelope_hash,
          prevHash: change.prev_hash,
          changeKind: change.change_kind,
          changedPaths: change.changed_paths,
        });
        return change.tenant_id === tenantId
          ? this.event(change, 'identity.snapshot.created', data)
          : this.event(change, 'shared.snapshot.created', { owner_tenant_id: change.tenant_id, ...data });
      }
      case 'grant.created':
      case 'grant.changed':
        return this.event(change, change.type, grantOf(change, grantIn(change)));
      case 'grant.revoked':
        return this.event(change, 'grant.revoked', grantOf(change, await this.lastOf(change)));
      case 'subject.erased':
        return this.event(change, 'subject.erased', await this.erasureOf(change));
      case 'tenant.owner_changed':
        return null;
    }
  }

  private event<T extends ForwardedType>(change: Change, type: T, data: EventData[T]): ForwardedEvent {
    const { tenantId } = this.tenant;
    const eventId = uuidOf(`${this.baseUrl} ${tenantId} ${change.log_index}`);
    const createdAt = new Date(momentOfChange(change));
    return { id: eventIdOf(eventId), type, body: buildEventBody({ eventId, type, createdAt, tenantId, data }) };
  }

  /** Returns the last terms of a revoked grant. @throws Failure */
  private async lastOf({ grant_id: grantId, log_index: place }: api.GrantRevokedChange): Promise<Grant> {
    let found: Grant | null = null;
    for (const type of ['grant.created', 'grant.changed'] as const) {
      for await (const change of this.tenant.changes({ type })) {
        if (change.log_index >= place) break;
        if (change.type === type && change.grant_id === grantId) found = grantIn(change);
      }
    }
    if (found === null) throw new Failure(`The feed has no terms of the grant ${grantId}.`);
    return found;
  }

  /** Returns the data of an erasure, with its versions from the history. @throws Failure */
  private async erasureOf(change: api.SubjectErasedChange): Promise<EventData['subject.erased']> {
    const { subject, erased_at: erasedAt } = change;
    const versions: number[] = [];
    let erasureId: string | null = null;
    for await (const header of this.tenant
      .subject(subject.subject_type, subject.subject_id)
      .headers({ order: 'asc' })) {
      if (header.erased?.erased_at !== erasedAt) continue;
      versions.push(header.snapshot_version);
      erasureId = header.erased.erasure_id;
    }
    if (erasureId === null) throw new Failure(`The history shows no version that was erased at ${erasedAt}.`);
    return { subject, erasure_id: erasureId, versions, erased_at: erasedAt };
  }
}

function grantIn(change: api.GrantCreatedChange | api.GrantChangedChange): Grant {
  const { scopes, paths, starts_at: since, expires_at: until } = change;
  return {
    scopes,
    paths,
    startsAt: since === null ? null : new Date(since),
    expiresAt: until === null ? null : new Date(until),
  };
}

function grantOf(
  change: api.GrantCreatedChange | api.GrantChangedChange | api.GrantRevokedChange,
  grant: Grant,
): ReturnType<typeof grantData> {
  return grantData({
    grantId: change.grant_id,
    ownerTenantId: change.tenant_id,
    granteeTenantId: change.grantee_tenant_id,
    subjectType: change.subject_type,
    subjectId: change.subject_id,
    ...grant,
  });
}

/** Derives a UUID (version 8) from a text, so that a change keeps its event id when it is forwarded again. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
