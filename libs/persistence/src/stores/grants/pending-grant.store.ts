import { type AccessFacts, type Acting, type Actor, ALL_SUBJECTS, type PrincipalType } from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { lockTenant } from '../tenancy/tenant-lock';
import type { GrantRecord, PendingGrantRecord } from './grant-record';
import { createGrants, type GrantOutcome } from './grant.store';

/** A pending grant and the principal that acts on it. */
export interface PendingGrantRef extends Acting {
  grantId: string;
}

/** The facts that decide a confirmation or cancellation. `pending` is null if the tenant has none with this id. */
export interface PendingGrantMove {
  facts: AccessFacts;
  /** The caller's type from its membership; null if it has none. */
  principalType: PrincipalType | null;
  pending: PendingGrantRecord | null;
}

const FIND = statement<PendingGrantRef, PendingGrantMove>('pending_grant_find');

const CONFIRM = statement<PendingGrantRef>('pending_grant_confirm');

const CANCEL = statement<PendingGrantRef, PendingGrantRecord>('pending_grant_cancel');

const LIST = statement<Actor & Before, ListRow<AccessFacts, PendingGrantRecord>>('pending_grants_of_tenant');

/** Requests for grants on all subjects that a second human must confirm. */
export class PendingGrantStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Confirms a pending grant and creates the grant in one transaction, unless `decide` or `settle` throws. `settle` receives the
   * outcome of the creation. The grant names the principal that requested it.
   */
  confirm(
    ref: PendingGrantRef,
    decide: (move: PendingGrantMove) => PendingGrantRecord,
    settle: (outcome: GrantOutcome | undefined) => GrantRecord,
  ): Promise<GrantRecord> {
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, ref);
      const { grantId, granteeTenantId, scopes, paths, startsAt, expiresAt, purpose } = decide(
        await sql.one(FIND, ref),
      );
      await sql.run(CONFIRM, ref);
      const wanted = { ...ALL_SUBJECTS, grantId, granteeTenantId, scopes, paths, startsAt, expiresAt, purpose };
      const [outcome] = await createGrants(sql, ref, [wanted], this.caps);
      return settle(outcome);
    });
  }

  /** Cancels a pending grant, even if it is overdue, unless `decide` throws. */
  cancel(ref: PendingGrantRef, decide: (move: PendingGrantMove) => void): Promise<PendingGrantRecord> {
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, ref);
      decide(await sql.one(FIND, ref));
      return sql.one(CANCEL, ref);
    });
  }

  /**
   * Returns the tenant's pending grants, newest first, including ended ones, and the caller's access facts. Only an active member
   * gets any.
   */
  async list(actor: Actor, request: PageRequest): Promise<{ facts: AccessFacts; page: Page<PendingGrantRecord> }> {
    return toList(await this.sql.run(LIST, { ...actor, ...before(request) }), request.limit);
  }
}
