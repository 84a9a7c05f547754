import { type AccessFacts, type Actor, type AttestationStatus, DomainError } from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import type { ActedBy } from '../records/acting';
import { lockTenant } from '../tenancy/tenant-lock';

/** A verified credential of another party, without its text. */
export interface AttestationRecord {
  /** Bare UUID. */
  attestationId: string;
  tenantId: string;
  issuer: string;
  vct: string;
  /** SHA-256 in hex of the credential with its disclosures. */
  digest: string;
  hasKeyBinding: boolean;
  addedBy: string;
  verifiedAt: Date;
  expiresAt: Date | null;
  status: AttestationStatus;
  /** When the status was last read; null before. */
  statusAt: Date | null;
  /** Null if the credential cannot be revoked. */
  statusUri: string | null;
  statusIdx: number | null;
  /** Why the status list could not be read the last time; null if it could. */
  statusProblem: string | null;
}

export type NewAttestation = Omit<
  AttestationRecord,
  'addedBy' | 'verifiedAt' | 'status' | 'statusAt' | 'statusProblem'
>;

const ADD = statement<
  NewAttestation & ActedBy & Pick<Caps, 'attestations_per_tenant'>,
  { attestation: AttestationRecord | null; cap: number }
>('attestation_add');
const RECEIVE = statement<{ presentationRequestId: string; attestationId: string }>('presentation_request_receive');
const FIND = statement<
  Actor & { attestationId: string },
  { facts: AccessFacts; attestation: AttestationRecord | null }
>('attestation_find');
const LIST = statement<Actor & Before, ListRow<AccessFacts, AttestationRecord>>('attestations_of_tenant');

/** Credentials of others that a tenant added as evidence. */
export class AttestationStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Stores a verified credential, whose status the worker then reads. Ends the presentation request that it answers, if any.
   * Throws `limit_reached` if the tenant has the maximum number, and `conflict` if the request has ended.
   */
  add(by: ActedBy, attestation: NewAttestation, presentationRequestId: string | null): Promise<AttestationRecord> {
    const { attestations_per_tenant } = this.caps;
    const { attestationId } = attestation;
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, { ...by, tenantId: attestation.tenantId });
      const { attestation: added, cap } = await sql.one(ADD, { ...attestation, ...by, attestations_per_tenant });
      if (added === null) throw limitReached('attestations_per_tenant', cap);
      if (presentationRequestId === null) return added;
      if ((await sql.run(RECEIVE, { presentationRequestId, attestationId })).length > 0) return added;
      throw new DomainError('conflict', 'The presentation request was answered, or it has ended.');
    });
  }

  /** Returns the tenant's attestation, or null, and the caller's access facts. */
  find(actor: Actor, attestationId: string): Promise<{ facts: AccessFacts; attestation: AttestationRecord | null }> {
    return this.sql.one(FIND, { ...actor, attestationId });
  }

  /** Returns a page of the tenant's attestations, newest first, and the caller's access facts. */
  async list(actor: Actor, request: PageRequest): Promise<{ facts: AccessFacts; page: Page<AttestationRecord> }> {
    return toList(await this.sql.run(LIST, { ...actor, ...before(request) }), request.limit);
  }
}
