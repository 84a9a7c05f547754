import { type Acting, type Actor, DomainError, parsePeriod, requireAccess, RULES } from '@iss/domain';
import {
  confirmationsSetTo,
  type NewTenant,
  type Page,
  type PageRequest,
  TenancyStore,
  type TenantChange,
  type TenantRecord,
  type TenantOfMember,
  type UsageDay,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal';
import { humanRequired } from '../../access/human';
import { EventHandOver } from '../../events/event-hand-over';
import type { RequestTrace } from '../../request-trace';

/** An inclusive window with a precision of a millisecond. */
export interface UsageWindow {
  from: Date;
  to: Date;
}

const DAY_MS = 86_400_000;
const DEFAULT_WINDOW_DAYS = 30;
/** Contract, "Usage": a year, including a leap year. */
const MAX_WINDOW_DAYS = 366;

/** Creates, changes and lists tenants, and counts what they wrote. */
@Injectable()
export class TenantService {
  constructor(
    private readonly tenancy: TenancyStore,
    private readonly handOver: EventHandOver,
  ) {}

  /**
   * Creates a tenant. Anyone with a token may do so, but only a human becomes its owner. Throws `conflict` or
   * `limit_reached`.
   */
  create(founder: Principal, requestId: string, tenant: NewTenant): Promise<TenantRecord> {
    const member = {
      principalId: founder.principalId,
      role: founder.claimedType === 'human' ? 'tenant_owner' : 'tenant_admin',
      tenancyRole: 'account_admin',
      principalType: founder.claimedType,
      allowCounterpartyAccess: false,
      status: 'active',
    } as const;
    return this.tenancy.create(tenant, member, requestId);
  }

  list({ principalId }: Principal, request: PageRequest): Promise<Page<TenantOfMember>> {
    return this.tenancy.ofPrincipal(principalId, request);
  }

  async find(actor: Actor): Promise<TenantOfMember> {
    const { facts, found } = await this.tenancy.find(actor);
    requireAccess(facts, RULES.readTenant);
    if (found === null) throw new Error('a member of a tenant that does not exist');
    return found;
  }

  /**
   * Changes a tenant. Only a human owner can switch a confirmation off. It takes effect when another human confirms it,
   * or after a day (docs/erasure.md). Throws `forbidden`, `human_principal_required`, or `conflict` if the slug is
   * taken.
   */
  async change(caller: Principal, acting: Acting, trace: RequestTrace, change: TenantChange): Promise<TenantRecord> {
    const isLifting = confirmationsSetTo('off', change).length > 0;
    const isMachine =
      (isLifting || confirmationsSetTo('required', change).length > 0) && caller.claimedType !== 'human';
    const { facts, tenant, eventIds } = await this.tenancy.change(acting, change, isMachine, trace);
    if (eventIds.length > 0) this.handOver.announce(eventIds);
    if (tenant !== null) return tenant;
    requireAccess(facts, isLifting ? RULES.liftConfirmation : RULES.changeTenant);
    throw humanRequired('change whether a second human has to confirm');
  }

  /**
   * Returns the number of snapshot writes per UTC day. Requires both bounds or neither. Throws `validation_error` or
   * `forbidden`.
   */
  async usage(
    actor: Actor,
    bounds: { from: string | undefined; to: string | undefined },
  ): Promise<{ window: UsageWindow; days: UsageDay[] }> {
    const window = requireWindow(bounds.from, bounds.to);
    const { facts, days } = await this.tenancy.usage(actor, window);
    requireAccess(facts, RULES.readUsage);
    return { window, days };
  }
}

function requireWindow(fromText: string | undefined, toText: string | undefined): UsageWindow {
  if (fromText === undefined && toText === undefined) {
    const to = new Date();
    return { from: new Date(to.getTime() - DEFAULT_WINDOW_DAYS * DAY_MS), to };
  }
  const { first: from } = requirePeriod('from', fromText);
  const { last: to } = requirePeriod('to', toText);
  if (from > to) throw invalid('from', 'must not be later than to', 'out_of_range');
  if (to.getTime() - from.getTime() > MAX_WINDOW_DAYS * DAY_MS) {
    throw invalid('from', `must be at most ${MAX_WINDOW_DAYS} days before to`, 'out_of_range');
  }
  return { from, to };
}

function requirePeriod(name: string, text: string | undefined): { first: Date; last: Date } {
  if (text === undefined) throw invalid(name, 'is required with the other bound: send both or neither', 'required');
  const period = parsePeriod(text);
  if (period !== null) return period;
  throw invalid(
    name,
    'must be an ISO 8601 date-time with a timezone, or a date (YYYY-MM-DD, in UTC)',
    'invalid_format',
  );
}

function invalid(name: string, message: string, code: string): DomainError {
  return new DomainError('validation_error', `${name} ${message}.`, [{ path: `/query/${name}`, message, code }]);
}
