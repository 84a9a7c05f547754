import type { CredentialStatus } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import type { SealedKey } from './credential.store';

/** A status list that must be signed, with the key that signs for its tenant. */
export interface DueStatusList extends SealedKey {
  listId: string;
  uri: string;
  /** The time of the list that is served now. */
  signedAt: Date;
  /** All other indexes are valid. */
  statuses: readonly ListedStatus[];
}

export interface ListedStatus {
  idx: number;
  status: CredentialStatus;
}

export interface SignedStatusList {
  token: string;
  signedAt: Date;
  /** When it must be signed again. */
  dueAt: Date;
}

type List = { listId: string };
type Key = Pick<SealedKey, 'kid' | 'publicKey' | 'sealed'>;

const FIND = statement<List, { token: string }>('status_list_find');
const MARK = statement<{ limit: number }, { taken: number }>('status_lists_mark');
const CLAIM = statement<object, Omit<DueStatusList, 'statuses' | keyof Key> & { tenantId: string }>(
  'status_list_claim',
);
const KEY = statement<{ tenantId: string }, Key>('status_list_key');
const STATUSES = statement<List, ListedStatus>('status_list_statuses');
const SIGNED = statement<List & SignedStatusList>('status_list_signed');
const FAILED = statement<List>('status_list_failed');

/** The status lists of credentials, as they are served. */
export class StatusListStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the signed list, or null. */
  async find(listId: string): Promise<string | null> {
    const [found] = await this.sql.run(FIND, { listId });
    return found?.token ?? null;
  }

  /** Makes the lists of up to `limit` changes due. Returns the number of changes. */
  async mark(limit: number): Promise<number> {
    return (await this.sql.one(MARK, { limit })).taken;
  }

  /**
   * Signs the next due list with `sign`, while nobody else does. Returns false if none is due. If it fails, the list is due
   * again a minute later.
   */
  async signNext(sign: (list: DueStatusList) => Promise<SignedStatusList>): Promise<boolean> {
    const { isMore, failure } = await this.sql.transaction(async (sql) => {
      const [claimed] = await sql.run(CLAIM, {});
      if (claimed === undefined) return { isMore: false, failure: null };
      const { tenantId, ...list } = claimed;
      const { listId } = list;
      const [key] = await sql.run(KEY, { tenantId });
      const statuses = await sql.run(STATUSES, { listId });
      const signed =
        key === undefined
          ? new Error(`the tenant ${tenantId} has no key that signs`)
          : await sign({ ...list, ...key, statuses }).catch((error: Error) => error);
      if (signed instanceof Error) {
        await sql.run(FAILED, { listId });
        return { isMore: true, failure: signed };
      }
      await sql.run(SIGNED, { listId, ...signed });
      return { isMore: true, failure: null };
    });
    if (failure !== null) throw failure;
    return isMore;
  }
}
