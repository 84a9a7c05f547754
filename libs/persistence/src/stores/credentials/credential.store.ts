import { randomInt } from 'node:crypto';
import {
  type AccessFacts,
  type Acting,
  type Actor,
  type CredentialFormat,
  type CredentialProfile,
  type CredentialStatus,
  DomainError,
  type InvalidReason,
  STATUS_LIST_SIZE,
  type SubjectRef,
  type Visible,
} from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import type { ActedBy } from '../records/acting';
import type { SubjectDisclosure } from '../facts/access-facts';
import type { SnapshotRow, StoredRow } from '../snapshots/snapshot-record';
import { StoredTexts } from '../snapshots/stored-texts';

/** An issued credential, without its text. */
export interface CredentialRecord extends SubjectRef {
  /** Bare UUID. */
  credentialId: string;
  /** The owner of the subject, whose key signed it. */
  tenantId: string;
  snapshotId: string;
  snapshotVersion: number;
  format: CredentialFormat;
  /** The disclosed parts; null: everything. */
  paths: Visible;
  /** The published type to which the version was mapped; null: the view of the version. */
  profile: CredentialProfile | null;
  /** The offer by which a wallet took it; null if it was issued directly. */
  offerId: string | null;
  hasHolderKey: boolean;
  kid: string;
  issuer: string;
  statusUri: string;
  statusIdx: number;
  issuedBy: string;
  /** The tenant that issued it by a grant; null for the owner. */
  granteeTenantId: string | null;
  issuedAt: Date;
  expiresAt: Date;
  status: CredentialStatus;
  statusAt: Date;
  /** Null unless the status is `invalid`. */
  invalidReason: InvalidReason | null;
}

/** The version of which a credential is asked for. */
export interface CredentialSource {
  facts: AccessFacts;
  /** Null if it does not exist, or if the caller may not issue credentials of it. */
  snapshot: SnapshotRow | null;
  /** Null if it does not exist. */
  version: number | null;
  /** The secret of its view; null until it has one. */
  viewSecret: Buffer | null;
  subjectKey: number | null;
  ownerTenantId: string | null;
  /** Null for the owner. */
  disclosure: SubjectDisclosure | null;
  /** The index of its entry in the log; null until the log has it. */
  logIndex: number | null;
}

export interface NewCredential extends Pick<
  CredentialRecord,
  'credentialId' | 'tenantId' | 'granteeTenantId' | 'format' | 'paths' | 'profile' | 'offerId' | 'hasHolderKey'
> {
  subjectKey: number;
  version: number;
  /** In seconds. */
  expiresIn: number;
}

/** The key that signs for a tenant, with its private part sealed for its kid. */
export interface SealedKey {
  kid: string;
  issuer: string;
  publicKey: string;
  sealed: string;
}

/** A list for new statuses, all valid. */
export interface NewStatusList {
  listId: string;
  uri: string;
  token: string;
  signedAt: Date;
  /** When it must be signed again. */
  dueAt: Date;
}

export interface IssuedRecord {
  credential: CredentialRecord;
  key: SealedKey;
}

type Found = { facts: AccessFacts; credential: CredentialRecord | null };

const SOURCE = statement<
  Actor & { snapshotId: string },
  Omit<CredentialSource, 'snapshot'> & { snapshot: StoredRow | null }
>('credential_source');
const LOCK = statement<Acting & { subjectKey: number }>('credentials_lock');
const OPEN = statement<NewStatusList & { tenantId: string; issuer: string }>('status_list_open');
const ISSUE = statement<
  NewCredential &
    ActedBy &
    Pick<Caps, 'credentials_per_tenant'> & {
      mostUsed: number;
      indexes: readonly number[];
    },
  { credential: CredentialRecord | null; cap: number; isErased: boolean; hasList: boolean; key: SealedKey | null }
>('credential_issue');
const TAKE = statement<{ offerId: string }>('credential_offer_take');
const WITHDRAW = statement<ActedBy & { credentialId: string }>('credential_withdraw');
const FIND = statement<Actor & { credentialId: string }, Found>('credential_find');
const LIST = statement<Actor & Before, ListRow<AccessFacts, CredentialRecord>>('credentials_of_tenant');

/** A list is left when it has this many credentials, so that one of a few random indexes is always free. */
const MOST_USED = (STATUS_LIST_SIZE * 3) / 4;
/** With three quarters taken, all of these are taken once in 100 million times. */
const TRIED_INDEXES = 64;

/** Credentials of versions that tenants issued. */
export class CredentialStore {
  private readonly texts: StoredTexts;

  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {
    this.texts = new StoredTexts(sql.archive);
  }

  /** Returns the version of which a credential is asked for, and the caller's access facts. */
  async source(actor: Actor, snapshotId: string): Promise<CredentialSource> {
    const found = await this.sql.one(SOURCE, { ...actor, snapshotId });
    return { ...found, snapshot: await this.texts.bringOne(found.snapshot) };
  }

  /**
   * Records a credential of a tenant's version, at a random unused index of a status list. `openList` signs a new list.
   * Returns it with the key that must sign it, or null if the version was erased meanwhile. Throws `conflict` if the tenant
   * has no key or the offer was taken, and `limit_reached`.
   */
  issue(
    by: ActedBy,
    credential: NewCredential,
    openList: (key: SealedKey) => Promise<NewStatusList>,
  ): Promise<IssuedRecord | null> {
    const { credentials_per_tenant } = this.caps;
    const { tenantId, offerId } = credential;
    const { principalId, requestId } = by;
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK, { principalId, requestId, tenantId, subjectKey: credential.subjectKey });
      if (offerId !== null && (await sql.run(TAKE, { offerId })).length === 0) {
        throw new DomainError('conflict', 'The offer was taken, or it has ended.');
      }
      const indexes = Array.from({ length: TRIED_INDEXES }, () => randomInt(STATUS_LIST_SIZE));
      const row = { ...credential, principalId, requestId, mostUsed: MOST_USED, indexes, credentials_per_tenant };
      const first = await sql.one(ISSUE, row);
      const { key, hasList, isErased } = first;
      if (key === null) throw noKey();
      if (isErased) return null;
      if (!hasList) await sql.run(OPEN, { ...(await openList(key)), tenantId, issuer: key.issuer });
      const { credential: made, cap } = hasList ? first : await sql.one(ISSUE, row);
      if (made === null) throw limitReached('credentials_per_tenant', cap);
      return { credential: made, key };
    });
  }

  /** Makes a credential invalid. Returns false if it is invalid already. */
  async withdraw(by: ActedBy, credentialId: string): Promise<boolean> {
    const { principalId, requestId } = by;
    return (await this.sql.run(WITHDRAW, { principalId, requestId, credentialId })).length === 1;
  }

  /** Returns a credential that the tenant signed or issued, or null, and the caller's access facts. */
  find(actor: Actor, credentialId: string): Promise<Found> {
    return this.sql.one(FIND, { ...actor, credentialId });
  }

  /** Returns a page of the credentials that the tenant signed or issued, newest first, and the caller's access facts. */
  async list(actor: Actor, request: PageRequest): Promise<{ facts: AccessFacts; page: Page<CredentialRecord> }> {
    return toList(await this.sql.run(LIST, { ...actor, ...before(request) }), request.limit);
  }
}

/** Says that nothing can be signed. */
export function noKey(): DomainError {
  return new DomainError(
    'conflict',
    'The owner of the subject has no issuing key. Its tenant_admin creates one with POST /v1/tenants/{tenant_id}/issuing-keys.',
  );
}
