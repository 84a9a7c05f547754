import { randomUUID } from 'node:crypto';
import {
  attestationIdOf,
  type AttestationStatus,
  backedPaths,
  covers,
  evidenceRevokedData,
  type JsonObject,
  type SubjectRef,
  type Visible,
} from '@iss/domain';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type Fact, type FactStep, record } from '../webhooks/record';

/** A status list that attestations of a tenant name. */
export interface AttestationListRef {
  tenantId: string;
  issuer: string;
  uri: string;
}

export interface DueList extends AttestationListRef {
  /** The party that takes turns: the founder of the tenant. */
  share: string;
  /** The newest list seen, by the clock of its issuer. */
  issuedAt: Date | null;
  /** Null if the tenant no longer trusts the issuer. */
  trusted: { keys: readonly JsonObject[]; roots: readonly string[] } | null;
}

interface ListedAttestation {
  attestationId: string;
  idx: number;
}

interface RevokedUse extends SubjectRef {
  attestationId: string;
  subjectKey: number;
  revokedAt: Date;
  addedBy: string;
  ownerTenantId: string;
  snapshotId: string;
  snapshotVersion: number;
  /** Null if the version was erased. */
  envelope: string | null;
}

const CLAIM = statement<{ busy: readonly string[]; limit: number }, DueList>('attestation_lists_claim');
const OF_LIST = statement<AttestationListRef & { after: string; rows: number }, ListedAttestation>(
  'attestations_of_list',
);
const SET = statement<{ inputs: readonly { attestationId: string; status: AttestationStatus }[] }>(
  'attestations_set_status',
);
const READ = statement<AttestationListRef & { issuedAt: Date; isNeeded: boolean }>('attestation_list_read');
const FAILED = statement<AttestationListRef & { problem: string }>('attestation_list_failed');
const WAITING = statement<{ limit: number }, RevokedUse>('evidence_waiting_claim');
const OPEN = statement<
  Pick<RevokedUse, 'subjectKey' | 'ownerTenantId' | 'addedBy'> & { refreshRequestId: string; paths: readonly string[] }
>('evidence_refresh_open');
const FOLLOWERS = statement<Pick<RevokedUse, 'subjectKey' | 'ownerTenantId'>, { tenantId: string; paths: Visible }>(
  'evidence_followers',
);

const PAGE = 1_000;
/** If more values are affected, the refresh request is for all attributes. */
const MAX_PATHS = 100;
/** Uses per statement, each with the text of a version. */
const USES_AT_ONCE = 10;

/** The status of attestations, for the worker. */
export class EvidenceStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Claims up to `limit` status lists that must be read now, one of each party that is not busy. Each belongs to the
   * caller for five minutes.
   */
  claimLists(limit: number, busy: readonly string[]): Promise<DueList[]> {
    return this.sql.run(CLAIM, { limit, busy });
  }

  /**
   * Stores the statuses of all attestations of a list, and when it must be read again. Where `statusAt` returns null, the
   * status stays. Then it returns false, and does not store when the list must be read again.
   */
  async setStatuses(
    list: AttestationListRef,
    issuedAt: Date,
    statusAt: (idx: number) => AttestationStatus | null,
  ): Promise<boolean> {
    const { tenantId, issuer, uri } = list;
    let after = '00000000-0000-0000-0000-000000000000';
    let isNeeded = false;
    let isWhole = true;
    for (;;) {
      const page = await this.sql.run(OF_LIST, { tenantId, issuer, uri, after, rows: PAGE });
      const inputs = page.flatMap(({ attestationId, idx }) => {
        const status = statusAt(idx);
        return status === null ? [] : { attestationId, status };
      });
      isWhole &&= inputs.length === page.length;
      isNeeded ||= inputs.some(({ status }) => status !== 'revoked');
      if (inputs.length > 0) await this.sql.run(SET, { inputs });
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.attestationId;
    }
    if (isWhole) await this.sql.run(READ, { tenantId, issuer, uri, issuedAt, isNeeded });
    return isWhole;
  }

  /** Stores why a list could not be read. It is tried again at growing intervals. */
  async failed({ tenantId, issuer, uri }: AttestationListRef, problem: string): Promise<void> {
    await this.sql.run(FAILED, { tenantId, issuer, uri, problem });
  }

  /**
   * Handles revoked evidence of some subjects: opens a refresh request of the owner for the values that it backs in the
   * latest version, and announces it to the owner and to the tenants that may follow one of these values.
   */
  announceRevoked(limit: number): Promise<FactStep> {
    const rows = Math.min(limit, USES_AT_ONCE);
    return this.sql.transaction(async (sql) => {
      const uses = await sql.run(WAITING, { limit: rows });
      const facts: Fact[] = [];
      for (const use of uses) facts.push(...(await announced(sql, use)));
      return { eventIds: await record(sql, facts), isMore: uses.length === rows };
    });
  }
}

async function announced(sql: TransactionSql, use: RevokedUse): Promise<Fact[]> {
  const { attestationId: uuid, subjectKey, ownerTenantId, addedBy, envelope, snapshotId, revokedAt } = use;
  const attestationId = attestationIdOf(uuid);
  const backed = envelope === null ? [] : backedPaths(envelope, attestationId);
  if (backed.length === 0) return [];
  const paths = backed.length > MAX_PATHS ? ['/attributes'] : backed;
  await sql.run(OPEN, { refreshRequestId: randomUUID(), subjectKey, ownerTenantId, addedBy, paths });
  const followers = await sql.run(FOLLOWERS, { subjectKey, ownerTenantId });
  const told = followers.filter(({ paths: visible }) => backed.some((path) => covers(visible, path)));
  const tenantIds = [...new Set([ownerTenantId, ...told.map(({ tenantId }) => tenantId)])];
  const data = evidenceRevokedData({ ...use, attestationId });
  return [{ type: 'evidence.revoked', at: revokedAt, data, tenantIds, snapshotId }];
}
