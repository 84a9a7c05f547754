import type { AccessFacts, Acting, Actor, PresentationStatus } from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { lockTenant } from '../tenancy/tenant-lock';

/** A request to a wallet for a credential. */
export interface PresentationRequestRecord {
  presentationRequestId: string;
  tenantId: string;
  /** The types of credentials, one of which the wallet must present. */
  vcts: readonly string[];
  /** JSON Pointers to the claims that it must disclose. */
  claims: readonly string[];
  status: PresentationStatus;
  /** Why the last answer was refused; null if none was. */
  problem: string | null;
  /** Null unless the status is `received`. */
  attestationId: string | null;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
}

export interface NewPresentationRequest extends Pick<
  PresentationRequestRecord,
  'presentationRequestId' | 'vcts' | 'claims'
> {
  /** The secret that opens the answer, sealed with the id as associated data. */
  sealed: string;
  /** In seconds. */
  expiresIn: number;
}

/** A request that a wallet can answer now. */
export type AwaitingPresentation = Pick<PresentationRequestRecord, 'tenantId' | 'vcts' | 'claims' | 'createdBy'> &
  Pick<NewPresentationRequest, 'sealed'>;

interface Id {
  presentationRequestId: string;
}

/** How many wrong answers a request takes. The last one ends it. */
const MOST_WRONG = 5;

const CREATE = statement<
  NewPresentationRequest & Actor & Pick<Caps, 'pending_presentation_requests'>,
  { request: PresentationRequestRecord | null; cap: number }
>('presentation_request_create');
const FIND = statement<Actor & Id, { facts: AccessFacts; request: PresentationRequestRecord | null }>(
  'presentation_request_find',
);
const AWAITING = statement<Id, AwaitingPresentation>('presentation_request_awaiting');
const REFUSE = statement<Id & { problem: string; isFinal: boolean; most: number }>('presentation_request_refuse');

/** Requests to wallets. `AttestationStore` ends one together with the attestation that it yields. */
export class PresentationRequestStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /** Creates a request. Throws `limit_reached` if the tenant has the maximum number. */
  create(acting: Acting, request: NewPresentationRequest): Promise<PresentationRequestRecord> {
    const { pending_presentation_requests } = this.caps;
    const { tenantId, principalId } = acting;
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, acting);
      const sent = { ...request, tenantId, principalId, pending_presentation_requests };
      const { request: made, cap } = await sql.one(CREATE, sent);
      if (made === null) throw limitReached('pending_presentation_requests', cap);
      return made;
    });
  }

  /** Returns the tenant's request, or null, and the caller's access facts. */
  find(actor: Actor, id: string): Promise<{ facts: AccessFacts; request: PresentationRequestRecord | null }> {
    return this.sql.one(FIND, { ...actor, presentationRequestId: id });
  }

  /** Returns a request that a wallet can answer now, or null. */
  async awaiting(id: string): Promise<AwaitingPresentation | null> {
    const [found] = await this.sql.run(AWAITING, { presentationRequestId: id });
    return found ?? null;
  }

  /** Counts a refused answer, which ends the request if it is the fifth or final. Does nothing if it has ended. */
  async refuse(id: string, problem: string, isFinal: boolean): Promise<void> {
    await this.sql.run(REFUSE, { presentationRequestId: id, problem, isFinal, most: MOST_WRONG });
  }
}
