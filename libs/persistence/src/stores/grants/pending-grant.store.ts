import { type AccessFacts, type Acting, type Actor, ALL_SUBJECTS, type PrincipalType, type Role } from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow } from '../../sql/input';
import { type Before, before, type ListRow, newestFirst, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS } from '../facts/access-facts';
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

/** The columns of the pending grant `p`. */
const PENDING_GRANT: Columns<PendingGrantRecord> = {
  grantId: 'p.grant_id',
  grantorTenantId: 'p.grantor_tenant_id',
  granteeTenantId: 'p.grantee_tenant_id',
  scopes: 'p.scopes',
  expiresAt: 'p.expires_at',
  purpose: 'p.purpose',
  status: `CASE WHEN p.confirmed_at IS NOT NULL THEN 'confirmed' WHEN p.cancelled_at IS NOT NULL THEN 'cancelled'
       WHEN least(p.confirm_by, p.expires_at) <= statement_timestamp() THEN 'expired' ELSE 'pending' END`,
  requestedBy: 'p.requested_by',
  createdAt: 'p.created_at',
  confirmBy: 'p.confirm_by',
  confirmedBy: 'p.confirmed_by',
  confirmedAt: 'p.confirmed_at',
  cancelledBy: 'p.cancelled_by',
  cancelledAt: 'p.cancelled_at',
};

const FIND = statement<PendingGrantRef, PendingGrantMove>(
  'pending_grant_find',
  `SELECT ${FACTS}, f.principal_type AS "principalType",
  ${columns(PENDING_GRANT, 'pending?')}
  FROM ${inputRow({ ...ACTOR, grant_id: 'uuid' })}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (SELECT * FROM pending_grants p WHERE p.grant_id = i.grant_id LIMIT 1) p
    ON p.grantor_tenant_id = i.tenant_id`,
);

const CONFIRM = statement<PendingGrantRef>(
  'pending_grant_confirm',
  `UPDATE pending_grants p SET confirmed_by = :principalId, confirmed_at = statement_timestamp()
  WHERE p.grant_id = :grantId::uuid`,
);

const CANCEL = statement<PendingGrantRef, PendingGrantRecord>(
  'pending_grant_cancel',
  `UPDATE pending_grants p SET cancelled_by = :principalId, cancelled_at = statement_timestamp()
  WHERE p.grant_id = :grantId::uuid
  RETURNING ${columns(PENDING_GRANT)}`,
);

const ORDER = newestFirst('p', 'grant_id');

const LIST = statement<Actor & Before, ListRow<AccessFacts, PendingGrantRecord>>(
  'pending_grants_of_tenant',
  `SELECT ${FACTS},
  ${columns(PENDING_GRANT, 'item?')},
  ${ORDER.position}
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (SELECT * FROM pending_grants p
                      WHERE p.grantor_tenant_id = i.tenant_id AND f.member_status = 'active' AND ${ORDER.next}) p ON true
 ${ORDER.order}`,
);

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
    managers: readonly Role[],
    decide: (move: PendingGrantMove) => PendingGrantRecord,
    settle: (outcome: GrantOutcome | undefined) => GrantRecord,
  ): Promise<GrantRecord> {
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, ref);
      const { grantId, granteeTenantId, scopes, expiresAt, purpose, requestedBy } = decide(await sql.one(FIND, ref));
      await sql.run(CONFIRM, ref);
      const wanted = { ...ALL_SUBJECTS, grantId, granteeTenantId, scopes, expiresAt, purpose };
      const [outcome] = await createGrants(sql, ref, [wanted], managers, this.caps);
      return { ...settle(outcome), grantedBy: requestedBy };
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
